// Messages are found in a stream whatever its chunks are.

import { expect, test } from "vitest";
import { encodeCommand, Framer, type Reply, ServerReplyError } from "./resp.ts";

const stream = Buffer.from(
  "+OK\r\n-ERR no\r\n:42\r\n$5\r\nh\r\nlo\r\n$-1\r\n*-1\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n%1\r\n+k\r\n_\r\n>2\r\n+message\r\n+x\r\n,1.5\r\n#t\r\n",
);
const values: readonly (Reply | "error")[] = [
  "OK",
  "error",
  42,
  "h\r\nlo",
  null,
  null,
  ["a", [1]],
  ["k", null],
  ["message", "x"],
  "1.5",
  "t",
];

test.each([1, 2, 3, 7, stream.length])("in chunks of %i bytes", (size) => {
  const framer = new Framer();
  const frames = Array.from({ length: Math.ceil(stream.length / size) }, (_, index) =>
    framer.push(stream.subarray(index * size, (index + 1) * size)),
  ).flat();
  expect(frames.map(({ value }) => (value instanceof ServerReplyError ? "error" : value))).toEqual(values);
  expect(frames.map(({ isPush }) => isPush).indexOf(true)).toBe(8);
  expect(Buffer.concat(frames.map(({ bytes }) => bytes)).equals(stream)).toBe(true);
});

test("a command counts bytes, not characters", () => {
  expect(`${encodeCommand(["SET", "ä", 1])}`).toBe("*3\r\n$3\r\nSET\r\n$2\r\nä\r\n$1\r\n1\r\n");
});
