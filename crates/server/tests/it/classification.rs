//! How a POST is told apart: each step of the order, with its status and its code, and that an
//! earlier step wins over a later one.

mod accept;
mod legacy;
mod modern;
