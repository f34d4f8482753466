// Another file of the program `listed`.
#include "listed.hpp"

namespace listed {

void other_file() {
    shared(2);
    shared_for(2.5);
    Shared{}.run();
    Shared::stream(3);
    SP_ERROR("only here");
}

}  // namespace listed
