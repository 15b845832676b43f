#pragma once
#include "queue/runnable.h"
