# What `cmake --install` and the .deb contain.
if(TARGET ringmaster)
  install(TARGETS ringmaster RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ringmaster/configs)
