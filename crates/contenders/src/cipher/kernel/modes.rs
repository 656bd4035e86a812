//! The modes over the operations of an architecture file: a macro, because a function with a target
//! feature cannot be generic over functions that need it and still have them inlined.

/// Defines `feedback` and `counter` with the features of the architecture.
macro_rules! modes {
    ($features:literal) => {
        use crate::cipher::container::Lanes;

        /// Blocks in flight in the counter modes.
        const WIDE: usize = 8;

        /// One block by itself, given in halves: joined in a register they need not wait in memory.
        #[target_feature(enable = $features)]
        pub(super) fn block(keys: &[[u8; 16]], [low, high]: [u64; 2]) -> [u8; 16] {
            let [lane] = encrypted(keys, [halves(low, high)]);
            let mut block = [0; 16];
            store(&mut block, lane);
            block
        }

        /// Stores the lanes by one instruction each, where there is a TAG.
        #[inline(always)]
        pub(super) fn put_states<const TAG: bool>(lanes: &mut Lanes, states: Lanes) {
            if !TAG {
                return;
            }
            let number = |[a, b, c, d]: [u32; 4]| {
                let [a, b, c, d] = [a, b, c, d].map(u128::from);
                a | b << 32 | c << 64 | d << 96
            };
            super::put_lanes(&mut lanes.plain, number(states.plain));
            super::put_lanes(&mut lanes.cipher, number(states.cipher));
        }

        /// `cfb` and `cfc`, or `ofb` and `ofc` with OUTPUT: each block waits for the one before, so
        /// the CRCs are free.
        #[target_feature(enable = $features)]
        pub(super) fn feedback<const OUTPUT: bool, const TAG: bool>(
            keys: &[[u8; 16]],
            iv: &[u8; 16],
            bytes: &mut [u8],
            lanes: &mut Lanes,
        ) {
            // A copy in local variables: through the reference they would live in memory.
            let mut states = *lanes;
            let (blocks, tail) = bytes.as_chunks_mut::<16>();
            let mut state = load(iv);
            let (pairs, single) = blocks.as_chunks_mut::<2>();
            for [first, second] in pairs {
                let plain = [load(first), load(second)];
                let mut cipher = plain;
                for at in 0..2 {
                    let [stream] = encrypted(keys, [state]);
                    cipher[at] = xor(plain[at], stream);
                    state = if OUTPUT { stream } else { cipher[at] };
                }
                store(first, cipher[0]);
                store(second, cipher[1]);
                if TAG {
                    crc_pair(&mut states.plain, plain[0], plain[1]);
                    crc_pair(&mut states.cipher, cipher[0], cipher[1]);
                }
            }
            for block in single {
                let plain = *block;
                let [stream] = encrypted(keys, [state]);
                let cipher = xor(load(block), stream);
                state = if OUTPUT { stream } else { cipher };
                store(block, cipher);
                if TAG {
                    crc_block(&mut states, &plain, block);
                }
            }
            if !tail.is_empty() {
                let [stream] = encrypted(keys, [state]);
                finish_tail::<TAG>(tail, stream, &mut states);
            }
            put_states::<TAG>(lanes, states);
        }

        /// `ctr` and `ctc`, or `c64` with a counter of 64 bits in the first eight bytes. The counter
        /// is kept with its bytes reversed, so that counting is an addition in its low half.
        #[target_feature(enable = $features)]
        pub(super) fn counter<const C64: bool, const TAG: bool>(
            keys: &[[u8; 16]],
            iv: &[u8; 16],
            bytes: &mut [u8],
            lanes: &mut Lanes,
        ) {
            let [to_low, to_high] = super::order::<C64>();
            let order = halves(to_low, to_high);
            let (mut low, mut high) = super::counter_of::<C64>(iv);
            let mut states = *lanes;
            let (blocks, tail) = bytes.as_chunks_mut::<16>();
            let (groups, rest) = blocks.as_chunks_mut::<WIDE>();
            for group in groups {
                let base = halves(low, high);
                let mut stream = [base; WIDE];
                for at in 0..WIDE {
                    stream[at] = add_low(base, at as u64);
                }
                let (next, wrapped) = low.overflowing_add(WIDE as u64);
                if wrapped && !C64 {
                    // The carry reaches the high half inside this group: rare, so one by one.
                    for at in 0..WIDE {
                        let (one, carry) = low.overflowing_add(at as u64);
                        stream[at] = halves(one, high.wrapping_add(carry.into()));
                    }
                    high = high.wrapping_add(1);
                }
                low = next;
                for block in &mut stream {
                    *block = shuffled(*block, order);
                }
                let stream = encrypted(keys, stream);
                for pair in 0..WIDE / 2 {
                    let (a, b) = (2 * pair, 2 * pair + 1);
                    let plain = [load(&group[a]), load(&group[b])];
                    let cipher = [xor(plain[0], stream[a]), xor(plain[1], stream[b])];
                    store(&mut group[a], cipher[0]);
                    store(&mut group[b], cipher[1]);
                    if TAG {
                        crc_pair(&mut states.plain, plain[0], plain[1]);
                        crc_pair(&mut states.cipher, cipher[0], cipher[1]);
                    }
                }
            }
            // Up to seven blocks and a tail: their key stream all at once.
            let mut stream = [halves(0, 0); WIDE];
            for block in &mut stream {
                *block = shuffled(halves(low, high), order);
                let (next, wrapped) = low.overflowing_add(1);
                low = next;
                high = if wrapped && !C64 { high.wrapping_add(1) } else { high };
            }
            if rest.is_empty() && tail.is_empty() {
                put_states::<TAG>(lanes, states);
                return;
            }
            let stream = match rest.len() {
                0..2 => {
                    let [a, b] = encrypted(keys, [stream[0], stream[1]]);
                    [a, b, a, a, a, a, a, a]
                }
                2..4 => {
                    let [a, b, c, d] =
                        encrypted(keys, [stream[0], stream[1], stream[2], stream[3]]);
                    [a, b, c, d, a, a, a, a]
                }
                _ => encrypted(keys, stream),
            };
            let whole = rest.len();
            let (pairs, single) = rest.as_chunks_mut::<2>();
            for ([first, second], stream) in pairs.iter_mut().zip(stream.as_chunks::<2>().0) {
                let plain = [load(first), load(second)];
                let cipher = [xor(plain[0], stream[0]), xor(plain[1], stream[1])];
                store(first, cipher[0]);
                store(second, cipher[1]);
                if TAG {
                    crc_pair(&mut states.plain, plain[0], plain[1]);
                    crc_pair(&mut states.cipher, cipher[0], cipher[1]);
                }
            }
            for block in single {
                let plain = *block;
                store(block, xor(load(block), stream[whole - 1]));
                if TAG {
                    crc_block(&mut states, &plain, block);
                }
            }
            if !tail.is_empty() {
                finish_tail::<TAG>(tail, stream[whole], &mut states);
            }
            put_states::<TAG>(lanes, states);
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn crc_block(lanes: &mut Lanes, plain: &[u8; 16], cipher: &[u8; 16]) {
            for (state, text) in [(&mut lanes.plain, plain), (&mut lanes.cipher, cipher)] {
                for (lane, word) in state.iter_mut().zip(text.as_chunks::<4>().0) {
                    *lane = crc_word(*lane, u32::from_le_bytes(*word));
                }
            }
        }

        /// A partial block at the end; see the definition for what its tag means.
        #[inline]
        #[target_feature(enable = $features)]
        fn finish_tail<const TAG: bool>(tail: &mut [u8], stream: Lane, lanes: &mut Lanes) {
            if TAG {
                lanes.plain[0] = crc32c(lanes.plain[0], tail);
            }
            let mut key = [0; 16];
            store(&mut key, stream);
            tail.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        }
    };
}
pub(super) use modes;
