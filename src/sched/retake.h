#pragma once
#include "gmp/hot_words.h"
