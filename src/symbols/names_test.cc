#include "symbols/names.h"

#include <gtest/gtest.h>

namespace vole::symbols {
namespace {

TEST(Names, AFunctionHasItsArgumentsAndNoReturnType) {
  EXPECT_EQ(readable("_Z6workeri"), "worker(int)");
  EXPECT_EQ(simplified("void app::handle<int>(int)"), "app::handle<int>(int)");
  EXPECT_EQ(simplified("std::vector<int, std::allocator<int> > app::list<long>(char)"),
            "app::list<long>(char)");
  EXPECT_EQ(readable("main"), "main");
}

TEST(Names, AStringIsAString) {
  EXPECT_EQ(simplified("f(std::__cxx11::basic_string<char, std::char_traits<char>, "
                       "std::allocator<char> > const&)"),
            "f(std::string const&)");
  EXPECT_EQ(simplified("f(std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, "
                       "std::allocator<std::pair<int const, int> > >)"),
            "f(std::map<int, std::vector<int>>)");
}

TEST(Names, ALambdaIsANumber) {
  EXPECT_EQ(simplified("main::{lambda()#1}::operator()() const"), "main::{lambda#1}");
  EXPECT_EQ(simplified("main::{lambda(int, std::pair<int, int>)#2}::operator()(int, "
                       "std::pair<int, int>) const"),
            "main::{lambda#2}");
  EXPECT_EQ(simplified("f()::{lambda()#1}::operator()() const::{lambda(int)#3}::operator()(int)"),
            "f()::{lambda#1}::{lambda#3}");
  EXPECT_EQ(simplified("auto main::{lambda(auto:1)#1}::operator()<int>(int) const"),
            "main::{lambda#1}");
}

TEST(Names, TimesHaveTheirUsualNames) {
  EXPECT_EQ(simplified("f(std::chrono::time_point<std::chrono::_V2::steady_clock, "
                       "std::chrono::duration<long, std::ratio<1l, 1000000000l> > >)"),
            "f(std::chrono::steady_clock::time_point)");
  EXPECT_EQ(simplified("f(std::chrono::duration<long, std::ratio<1l, 1000l> >, int)"),
            "f(std::chrono::milliseconds, int)");
}

TEST(Names, ClangsLambdasLookTheSame) {
  EXPECT_EQ(simplified("main::$_0::operator()() const"), "main::{lambda#1}");
  EXPECT_EQ(simplified("void run<main::$_2>(main::$_2&&)"),
            "run<main::{lambda#3}>(main::{lambda#3}&&)");
  EXPECT_EQ(simplified("f()::$_1::operator()(int) const::{lambda()#1}::operator()() const"),
            "f()::{lambda#2}::{lambda#1}");
  EXPECT_EQ(simplified("cash$_4(int)"), "cash$_4(int)");
}

TEST(Names, OperatorsAndAnonymousNamespacesKeepTheirName) {
  EXPECT_EQ(simplified("(anonymous namespace)::serve(int)"), "(anonymous namespace)::serve(int)");
  EXPECT_EQ(simplified("void (anonymous namespace)::serve<int>(int)"),
            "(anonymous namespace)::serve<int>(int)");
  EXPECT_EQ(simplified("app::operator<<(std::ostream&, app::x const&)"),
            "app::operator<<(std::ostream&, app::x const&)");
  EXPECT_EQ(simplified("app::x::operator bool() const"), "app::x::operator bool() const");
  EXPECT_EQ(simplified("app::x::operator->() const"), "app::x::operator->() const");
  EXPECT_EQ(simplified("f(int) [clone .cold]"), "f(int)");
}

TEST(Names, PlumbingIsVolesOrTheStandardLibrarysInvoke) {
  EXPECT_TRUE(is_plumbing("vole::chan<int>::recv() const", nullptr));
  EXPECT_TRUE(is_plumbing("vole_goroutine_start", nullptr));
  EXPECT_TRUE(
      is_plumbing("std::__invoke_impl<void, main::{lambda#1}>(std::__invoke_other)", nullptr));
  EXPECT_FALSE(is_plumbing("main::{lambda#1}", nullptr));
  EXPECT_FALSE(is_plumbing("voles(int)", nullptr));
  EXPECT_FALSE(is_plumbing("vole_test::serve()", nullptr));
  EXPECT_FALSE(is_plumbing("std::sort(int*, int*)", nullptr));
}

TEST(Names, ShortNamesAreKnownByTheirFile) {
  EXPECT_TRUE(is_plumbing("operator()", "/usr/local/include/vole/detail/run.h"));
  EXPECT_TRUE(is_plumbing("wait_inside<receiving>",
                          (std::string(own_sources()) + "chan/send_recv.cc").c_str()));
  EXPECT_TRUE(is_plumbing("_ZZN4vole2v06detail8run_packIiEvRT_ENKUlvE_clEv", nullptr));
  EXPECT_TRUE(is_plumbing("__invoke<x>", "/usr/include/c++/12/bits/invoke.h"));
  EXPECT_FALSE(is_plumbing("operator()", "/home/me/vole/app.cc"));
  EXPECT_FALSE(is_plumbing("sort", "/usr/include/c++/12/bits/stl_algo.h"));
  EXPECT_EQ(readable("operator()"), "{lambda}");
}

TEST(Names, TheWrapperNamesTheFunction) {
  EXPECT_EQ(wrapped_function("vole::detail::inline_callable<std::tuple<main::{lambda#1}>>::invoke("
                             "void*)"),
            "main::{lambda#1}");
  EXPECT_EQ(wrapped_function("vole::detail::inline_callable<std::tuple<void (*)(int, char), "
                             "int>>::invoke(void*)"),
            "void (*)(int, char)");
  EXPECT_EQ(wrapped_function("vole::detail::joinable_task<std::pair<int, int>, "
                             "main::{lambda#2}>::invoke(void*)"),
            "main::{lambda#2}");
  EXPECT_EQ(wrapped_function("vole::detail::run_with<main::{lambda#1}>(main::{lambda#1}&&)::"
                             "{lambda#1}::_FUN(void*)"),
            "main::{lambda#1}");
  EXPECT_EQ(wrapped_function("vole::detail::joinable_task<int"), "");
  EXPECT_EQ(wrapped_function("vole::detail::joinable_task<int>"), "");
  EXPECT_EQ(wrapped_function("vole::detail::expiry::invoke(void*)"), "");
}

TEST(Names, LambdasOfDebugInformationLoseTheArgumentsOfTheirFunction) {
  EXPECT_EQ(simplified("app::box<int>::map<main(int, char**)::<lambda()>::<lambda(auto:53&)> >"),
            "app::box<int>::map<main::{lambda}::{lambda}>");
  EXPECT_EQ(simplified("app::of<a::b(std::pair<int, int>)::<lambda(int)> >"),
            "app::of<a::b::{lambda}>");
  EXPECT_EQ(simplified("<lambda(int)"), "<lambda(int)");
  EXPECT_EQ(simplified(")::<lambda()>"), "::{lambda}");
}

}  // namespace
}  // namespace vole::symbols
