// The same calls as in format_test.cpp, in another file.
#include "format_part.hpp"

void format_elsewhere(const char* text) {
    in_header(text);
    Member{}.call(text);
}
void first_of_other_part(int number) { Member{}.info("other part {}", number); }
