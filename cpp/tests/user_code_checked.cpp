#include "user_code_test.cpp"
