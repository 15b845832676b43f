#!/usr/bin/env python3
"""packaging/ agrees with the project: versions, and options that CMake knows. The vcpkg port is run with
stand-ins for vcpkg's own functions: its options must be the project's, its files must be there."""

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STAND_INS = """\
function(vcpkg_cmake_configure)
  cmake_parse_arguments(a "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  foreach(option IN LISTS a_OPTIONS)
    message(STATUS "option ${option}")
  endforeach()
  if(NOT EXISTS ${a_SOURCE_PATH}/CMakeLists.txt)
    message(FATAL_ERROR "the port looks for the sources in ${a_SOURCE_PATH}")
  endif()
endfunction()
function(vcpkg_cmake_install)
endfunction()
function(vcpkg_cmake_config_fixup)
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(a "" "" "FILE_LIST" ${ARGN})
  file(READ ${a_FILE_LIST} text)
endfunction()
set(CURRENT_PACKAGES_DIR @FOLDER@)
include(@PORT@)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    root = parser.parse_args().root.resolve()
    cmake = "\n".join(p.read_text(encoding="utf-8") for p in (root / "CMakeLists.txt", *(root / "cmake").glob("*.cmake")))
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", cmake)[1]
    known = set(re.findall(r"^ *option\((\w+)", cmake, re.M))
    problems = []

    port = root / "packaging/vcpkg/vole"
    said = json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))["version"]
    if said != version:
        problems.append(f"vcpkg.json says version {said}, CMakeLists.txt {version}")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "port.cmake"
        script.write_text(STAND_INS.replace("@FOLDER@", folder).replace("@PORT@", str(port / "portfile.cmake")))
        done = subprocess.run(["cmake", "-P", script], capture_output=True, text=True)
    if done.returncode:
        problems.append(f"the port fails: {done.stdout}{done.stderr}")
    used = re.findall(r"option -D(\w+)=", done.stdout)

    recipe = (root / "packaging/conan/conanfile.py").read_text(encoding="utf-8")
    ast.parse(recipe)
    said = re.search(r'version = "([^"]+)"', recipe)[1]
    if said != version:
        problems.append(f"conanfile.py says version {said}, CMakeLists.txt {version}")
    used += re.findall(r"VOLE_[A-Z]+(?:_[A-Z]+)?(?=\")", recipe)
    for pattern in re.findall(r'"([\w./]+/\*|\w+\.txt|LICENSE)"', recipe):
        if not list(root.glob(pattern)):
            problems.append(f"conanfile.py copies {pattern}, which is not there")
    problems += [f"CMake knows no option {option}" for option in used if option not in known]
    for problem in problems:
        print(f"packaging: {problem}")
    if problems or len(used) < 4:
        sys.exit(1)
    print(f"packaging: version {version}, {len(used)} options")


if __name__ == "__main__":
    main()
