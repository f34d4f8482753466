#define SILVERPOINT_CHECKS
#include "user_code_test.cpp"
