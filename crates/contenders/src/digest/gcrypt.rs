//! libgcrypt of this machine, which GnuPG is made of: assembly of its own, chosen when it runs, in a
//! handle that is kept.

use super::workload::{Messages, digests};
use crate::system::gcrypt::Md;
use crate::system::lent;

lent! {
    GCRYPT of Messages: gcrypt::Gcrypt, "gcrypt.rs";
    |library, _, workload| digests!(library, workload, Md)
}
