//! The checks of a POST in their order, each with its status and code. If several fail, the first one
//! decides the response.

mod accept;
mod legacy;
mod modern;
