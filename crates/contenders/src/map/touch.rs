//! No structure: reads every byte of every probe once, and adds them up. What remains of any other
//! contender's time after this is the structure itself; it is shown, never subtracted.

use fathom_measure::contender::{Contender, Meta, Preparation};

use crate::keyed::bench::touch;
use crate::keyed::{Keyed, Keys};

pub(super) struct Touch;

impl Contender<Keyed> for Touch {
    fn meta(&self) -> Meta {
        Meta { name: "touch", ..Meta::of(include_str!("touch.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        touch(workload, Keys::sum)
    }
}
