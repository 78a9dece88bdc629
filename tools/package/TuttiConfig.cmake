# find_package(Tutti) gives
#   tutti::tutti      the library
#   tutti::static     the same as an archive; the engine is still loaded, from where this file is installed
#   tutti::rt         what plays programs that tutti compile has made; tutti::rt_static as an archive
get_filename_component(_tutti "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tutti::tutti)
  foreach(_kind tutti rt)
    if(_kind STREQUAL "tutti")
      set(_file libtutti)
      set(_archive static)
    else()
      set(_file libtutti_rt)
      set(_archive rt_static)
    endif()
    add_library(tutti::${_kind} SHARED IMPORTED)
    set_target_properties(tutti::${_kind} PROPERTIES
      IMPORTED_LOCATION "${_tutti}/lib/${_file}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${_tutti}/include")
    add_library(tutti::${_archive} STATIC IMPORTED)
    set_target_properties(tutti::${_archive} PROPERTIES
      IMPORTED_LOCATION "${_tutti}/lib/${_file}.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_tutti}/include"
      INTERFACE_LINK_LIBRARIES "m;dl;pthread")
  endforeach()
  # The engine of this folder is found as a library would be.
  set_property(TARGET tutti::static APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES "-Wl,-rpath,${_tutti}/lib")
endif()
foreach(_name _tutti _kind _file _archive)
  unset(${_name})
endforeach()
