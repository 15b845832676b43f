"""The recipe for Conan 2: `conan create packaging/conan`, in the clone that it builds."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Vole(ConanFile):
    name = "vole"
    version = "0.1.0"
    description = "Go's goroutine scheduler as a C++20 library"
    license = "Apache-2.0"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "library"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("vole needs Linux on x86-64 or AArch64")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def export_sources(self):
        clone = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "tools/gdb/*"):
            copy(self, pattern, clone, self.export_sources_folder)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCH", "EXAMPLES", "TOOLS", "CCACHE"):
            name = "VOLE_CCACHE" if part == "CCACHE" else f"VOLE_BUILD_{part}"
            toolchain.cache_variables[name] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The package's own CMake files say the rest: targets, and vole_preemptible().
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "vole")]
        self.cpp_info.libs = ["vole"]
        self.cpp_info.system_libs = ["pthread", "dl"]
