# find_package(Tutti) gives tutti::tutti, and tutti::static without the shared library.
get_filename_component(_tutti "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tutti::tutti)
  add_library(tutti::tutti SHARED IMPORTED)
  set_target_properties(tutti::tutti PROPERTIES
    IMPORTED_LOCATION "${_tutti}/lib/libtutti.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_tutti}/include")
  add_library(tutti::static STATIC IMPORTED)
  set_target_properties(tutti::static PROPERTIES
    IMPORTED_LOCATION "${_tutti}/lib/libtutti.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_tutti}/include"
    INTERFACE_LINK_LIBRARIES "m;dl;pthread")
endif()
unset(_tutti)
