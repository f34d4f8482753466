#include "holders_test.cpp"
