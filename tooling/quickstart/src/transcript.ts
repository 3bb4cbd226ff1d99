// Conversations from a file, one a line: `{ id, services, turns: [{ speaker, text, state? }] }`. What is malformed is
// refused with its line and place before anything is stored. The annotated state comes out as facts by key.

import { readFile } from "node:fs/promises";
import type { JsonValue } from "@memory/core";

/** Something that holds after a turn: a slot's value, or (slot `null`) that the service is being talked about at all. */
export interface Fact {
  readonly service: string;
  readonly slot: string | null;
  readonly value: JsonValue;
}

/** What holds, by profile key. */
export type Facts = ReadonlyMap<string, Fact>;

/** One thing said. */
export interface Turn {
  readonly speaker: "user" | "system";
  readonly text: string;
  /** All that holds after this turn, where it was annotated. */
  readonly facts: Facts | undefined;
}

/** One conversation. */
export interface Dialogue {
  readonly id: string;
  readonly services: readonly string[];
  readonly turns: readonly Turn[];
}

/** A transcript cannot be used; the message says where and why. */
export class TranscriptError extends Error {
  override readonly name = "TranscriptError";
}

const MAX_ID_BYTES = 200;
const MAX_KEY_BYTES = 1_024;

/**
 * Reads a transcript.
 *
 * @throws {TranscriptError} The file cannot be read or is malformed.
 */
export async function readTranscript(file: string): Promise<readonly Dialogue[]> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    throw new TranscriptError(`${file}: cannot be read (${reasonOf(error)})`);
  }
  try {
    return parseTranscript(text);
  } catch (error) {
    if (error instanceof TranscriptError) throw new TranscriptError(`${file}: ${error.message}`);
    throw error;
  }
}

/**
 * Parses a transcript; empty lines mean nothing.
 *
 * @throws {TranscriptError} A line is malformed, an id comes twice, or there is no conversation.
 */
export function parseTranscript(text: string): readonly Dialogue[] {
  const dialogues: Dialogue[] = [];
  const lines = new Map<string, number>();
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === "") return;
    const number = index + 1;
    const dialogue = new Place(number).parse(line);
    const before = lines.get(dialogue.id);
    if (before !== undefined) throw new TranscriptError(`line ${number}: its id is also that of line ${before}`);
    lines.set(dialogue.id, number);
    dialogues.push(dialogue);
  });
  if (dialogues.length === 0) throw new TranscriptError("holds no conversation");
  return dialogues;
}

/**
 * The profile key of a slot (`Restaurants_2.location`) or of a service itself (`Restaurants_2`). A dot in a service's
 * name is encoded, so that no two pairs meet in one key.
 */
export function factKey(service: string, slot: string | null): string {
  const encoded = service.replaceAll("%", "%25").replaceAll(".", "%2E");
  return slot === null ? encoded : `${encoded}.${slot}`;
}

// A place in the file, to say where something is wrong.
class Place {
  readonly #line: number;
  readonly #path: string;

  constructor(line: number, path = "") {
    this.#line = line;
    this.#path = path;
  }

  parse(line: string): Dialogue {
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch {
      throw this.#wrong("is not JSON (one conversation a line is expected)");
    }
    const dialogue = this.#object(parsed);
    const id = this.#at("id").#name(member(dialogue, "id"), MAX_ID_BYTES);
    const services = this.#at("services").#list(member(dialogue, "services"), (place, one) => place.#text(one));
    const turns = this.#at("turns").#list(member(dialogue, "turns"), (place, one) => place.#turn(one));
    if (turns.length === 0) throw this.#at("turns").#wrong("is empty");
    return { id, services, turns };
  }

  #turn(input: unknown): Turn {
    const turn = this.#object(input);
    const speaker = member(turn, "speaker");
    if (speaker !== "user" && speaker !== "system") throw this.#at("speaker").#wrong('is neither "user" nor "system"');
    const text = this.#at("text").#text(member(turn, "text"));
    const state = member(turn, "state");
    return { speaker, text, facts: state === undefined ? undefined : this.#at("state").#facts(state) };
  }

  #facts(input: unknown): Facts {
    const facts = new Map<string, Fact>();
    for (const [service, slots] of Object.entries(this.#object(input))) {
      const place = this.#at(service);
      place.#name(service, MAX_KEY_BYTES);
      facts.set(place.#key(service, null), { service, slot: null, value: true });
      for (const [slot, value] of Object.entries(place.#object(slots))) {
        place.#at(slot).#name(slot, MAX_KEY_BYTES);
        facts.set(place.#at(slot).#key(service, slot), { service, slot, value: toJson(value) });
      }
    }
    return facts;
  }

  #key(service: string, slot: string | null): string {
    return this.#name(factKey(service, slot), MAX_KEY_BYTES);
  }

  #list<T>(input: unknown, parse: (place: Place, one: unknown) => T): readonly T[] {
    if (!Array.isArray(input)) throw this.#wrong("is not a list");
    return input.map((one: unknown, index) => parse(new Place(this.#line, `${this.#path}[${index}]`), one));
  }

  #object(input: unknown): object {
    if (typeof input !== "object" || input === null || Array.isArray(input)) throw this.#wrong("is not an object");
    return input;
  }

  #text(input: unknown): string {
    if (typeof input !== "string") throw this.#wrong("is not a text");
    return input;
  }

  // What becomes a part of a scope or a key.
  #name(input: unknown, maxBytes: number): string {
    const text = this.#text(input);
    if (text.trim() === "") throw this.#wrong("is blank");
    if (!text.isWellFormed() || text.includes("\0")) throw this.#wrong("holds a NUL or a lone surrogate");
    if (Buffer.byteLength(text) > maxBytes) throw this.#wrong(`is over ${maxBytes} bytes`);
    return text;
  }

  #at(name: string): Place {
    const shown = /^\w{1,60}$/.test(name) ? name : JSON.stringify(name.slice(0, 60));
    return new Place(this.#line, this.#path === "" ? shown : `${this.#path}.${shown}`);
  }

  #wrong(problem: string): TranscriptError {
    return new TranscriptError(`line ${this.#line}${this.#path === "" ? "" : `: ${this.#path}`} ${problem}`);
  }
}

function member(of: object, name: string): unknown {
  return Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined;
}

// What JSON.parse gave is JSON; only its type has forgotten it.
function toJson(value: unknown): JsonValue {
  return value as JsonValue;
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error ? Reflect.get(error, "code") : undefined;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES") return "permission denied";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "it is not UTF-8 text";
  return typeof code === "string" ? code : "unknown reason";
}
