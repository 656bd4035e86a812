//! Tokens handed over where they stand; only what a chunk's end cuts is copied.

use super::number::quick;
use super::scanner;
use super::workload::step;

step! {
    VIEWS, Views: "views", "views.rs";
    |source, take| scanner::each_pair::<false>(source, 4 << 10, quick, take)
}
