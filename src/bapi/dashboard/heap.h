#pragma once

namespace bapi {

// Answers to many threads come from few heaps: what one has given back serves the next. Called once, at the start.
void share_heaps();

// Gives what is free to the system, after something large was made and thrown away.
void give_back_memory();

}  // namespace bapi
