// Identifiers. UUIDv7 leads with the time, so that ids made later sort later and land at the end of an index.
//
// The module keeps a pool of random bytes and a counter. Neither is state that anyone can observe or has to reset: the
// pool saves a system call per id, the counter keeps ids of one millisecond in the order in which they were made.

import type { EpochMs } from "./record.ts";

const POOL_SIZE = 1_024;
const MAX_TIME = 2 ** 48 - 1;
const COUNTER_END = 2 ** 26;

const HEX_2: readonly string[] = hexTable(2);
const HEX_3: readonly string[] = hexTable(3);

const pool = new Uint32Array(POOL_SIZE);
let used: number = POOL_SIZE;
let lastTime = -1;
let timePrefix = "";
let counter = 0;

/**
 * A new UUIDv7 for the instant `now`: 48 bits of time, a 26-bit counter that starts anywhere in its lower half each
 * millisecond, and 48 random bits. Ids made in one process for the same `now` in a row sort in the order of their making.
 * `now` is cut to a whole number and taken into 0..2^48-1.
 *
 * @see RFC 9562, sections 5.7 and 6.2 (method 1, fixed bit-length dedicated counter)
 */
export function uuidV7(now: EpochMs): string {
  const time = now > 0 ? Math.min(Math.trunc(now), MAX_TIME) : 0;
  if (time === lastTime && counter < COUNTER_END - 1) {
    counter += 1;
  } else {
    startMillisecond(time);
  }
  const tail = 0x8000 | (counter & 0x3fff);
  const high = randomWord();
  const low = randomWord();
  const digits = `-${HEX_2[tail >>> 8]}${HEX_2[tail & 0xff]}-`;
  // Joined with +, which is twice as fast as one long template here; measured with Node 24.
  const start = timePrefix + HEX_3[counter >>> 14] + digits;
  return start + HEX_3[high >>> 20] + HEX_3[(high >>> 8) & 0xfff] + HEX_3[low >>> 20] + HEX_3[(low >>> 8) & 0xfff];
}

function startMillisecond(time: number): void {
  lastTime = time;
  const digits = time.toString(16).padStart(12, "0");
  timePrefix = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
  counter = randomWord() >>> 7;
}

function randomWord(): number {
  if (used === POOL_SIZE) {
    globalThis.crypto.getRandomValues(pool);
    used = 0;
  }
  const word = pool[used] ?? 0;
  used += 1;
  return word;
}

function hexTable(digits: number): readonly string[] {
  return Array.from({ length: 16 ** digits }, (_, value) => value.toString(16).padStart(digits, "0"));
}
