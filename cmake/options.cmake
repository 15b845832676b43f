# Compiler settings, as functions on a target.

# vole_own_code(<target>): the language, the warnings we hold ourselves to, and three settings:
#   -fno-omit-frame-pointer      profilers that walk by frame pointers see through the library
#   -fno-semantic-interposition  nobody replaces one of our functions by preloading another: calls within
#                                the library are direct, and may be inlined
#   -fno-tree-slp-vectorize      g++ 12 gathers neighbouring words in vector registers, and a switch is
#                                slower for it (docs/lab-notebook.md has the figures)
function(vole_own_code target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast)
  if(VOLE_WERROR)
    list(APPEND warnings -Werror)
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-fno-omit-frame-pointer;-fno-semantic-interposition;-fno-tree-slp-vectorize>")
endfunction()

# vole_no_false_alarms(<target>): g++ 12 and 13 warn, when they optimise, of what they inline from
# std::string, as in "text" + string (GCC's bug 105329).
function(vole_no_false_alarms target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
  endif()
endfunction()

# vole_sees_rooms(<target>): may include the rooms of src/. Such code must agree with the
# library on VOLE_CHECKED, which changes what the headers there contain.
function(vole_sees_rooms target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  if(VOLE_CHECKED)
    target_compile_definitions(${target} PRIVATE VOLE_CHECKED=1)
  endif()
endfunction()

# vole_sanitize(<target> [UNSEEN]): VOLE_SANITIZE, for the target and for all that link it. UNSEEN: for
# those only, if it is TSan (cmake/races.cmake).
function(vole_sanitize target)
  if(NOT VOLE_SANITIZE)
    return()
  endif()
  set(flags -fsanitize=${VOLE_SANITIZE})
  if(VOLE_SANITIZE MATCHES "undefined")  # what it finds ends the program, so that a test fails
    list(APPEND flags -fno-sanitize-recover=all)
  endif()
  set(scope PUBLIC)
  if(VOLE_SANITIZE MATCHES "thread" AND "${ARGV1}" STREQUAL "UNSEEN")
    set(scope INTERFACE)
  endif()
  target_compile_options(${target} ${scope} "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
  target_link_options(${target} PUBLIC ${flags})
  # The assembler sees these two as well.
  if(VOLE_SANITIZE MATCHES "address")
    target_compile_definitions(${target} PUBLIC VOLE_SANITIZE_ADDRESS=1)
  endif()
  if(VOLE_SANITIZE MATCHES "thread")
    target_compile_definitions(${target} PUBLIC VOLE_SANITIZE_THREAD=1)
  endif()
endfunction()
