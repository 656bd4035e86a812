//! wolfSSL of this machine: portable C, or assembly where it was built with it. Its digests of whole messages.

use super::workload::{Messages, digests};
use crate::system::lent;
use crate::system::wolfssl::Md;

lent! {
    WOLF_SSL of Messages: wolfssl::Wolf, "wolfssl.rs";
    |library, _, workload| digests!(library, workload, Md)
}
