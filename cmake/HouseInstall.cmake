# What `cmake --install` and the .deb contain.
if(TARGET ringmaster)
  install(TARGETS ringmaster RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ringmaster/configs)
# The text that the quickstart and the sweeps train on: this project's own.
install(DIRECTORY src/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ringmaster/src FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cpp")
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringmaster)
set(CPACK_PACKAGE_CONTACT "The ringmaster maintainers <maintainers@ringmaster.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Trains real data parallel workloads under mpirun, lets allreduce variants take
turns in one job, accounts for every microsecond of a step, and says what
limits it and what to change, with confidence intervals.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(RINGMASTER_MPI)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
endif()
include(CPack)
