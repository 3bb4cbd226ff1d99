// What the built-in patterns mask and what they leave, and that hostile texts cost no more than others.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskPatterns } from "./patterns.ts";

const R = "[redacted]";
const HEX = "d41d8cd98f00b204e9800998ecf8427e";
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const KEYS = [
  "sk-abcdefghijklmnopqrstuvwxyz",
  "sk-proj-a1B2c3D4e5F6g7H8i9J0",
  "sk-ant-api03-aBcDeFgHiJkLmNoP_qRsT-uVwX",
  "pk_live_4eC39HqLyjWDarjtT1zdp7dc",
  "rk_live_4eC39HqLyjWDarjtT1zdp7dc",
  "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
  "whsec_4eC39HqLyjWDarjtT1zdp7dc",
  "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
  "gho_16C7e42F292c6912E7710c838347Ae178B4a",
  "github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ",
  "xoxb-123456789012-abcdefghij",
  "xoxp-123456789012-123456789012-abcdef",
  "AKIAIOSFODNN7EXAMPLE",
  "ASIAIOSFODNN7EXAMPLE",
  "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
  "glpat-aBcDeFgHiJkLmNoPqRsT",
  "npm_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789",
  "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567",
  "SG.aBcDeFgHiJkLmNoPqRsTuV.aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789abcdefg",
  "SK0123456789abcdef0123456789abcdef",
];
const CARDS = [
  "4111111111111111",
  "5555555555554444",
  "2223003122003222",
  "378282246310005",
  "6011111111111117",
  "30569309025904",
  "36227206271667",
  "3530111333300000",
  "6250941006528599",
  "6759649826438453",
  "6304000000000000",
  "4000000000000000006",
];
const EMAILS = [
  "a@b.cd",
  "anna.schmidt+travel@mail.example.co.uk",
  "o'brien@example.com",
  "jörg@bücher.example",
  "юзер@пример.рф",
];
const SECRETS = [...KEYS, ...CARDS, ...EMAILS, JWT, HEX, HEX.toUpperCase(), HEX + HEX, `0x${HEX}${HEX}`];

describe("maskPatterns", () => {
  it.each(SECRETS)("masks %s alone and between blanks, quotes, brackets and at a sentence's end", (secret) => {
    expect(maskPatterns(secret)).toBe(R);
    expect(maskPatterns(`see ${secret}.`)).toBe(`see ${R}.`);
    expect(maskPatterns(`${secret}, then "${secret}" (${secret})\n${secret}`)).toBe(`${R}, then "${R}" (${R})\n${R}`);
    expect(maskPatterns(`🎉${secret}🎉`)).toBe(`🎉${R}🎉`);
    expect(maskPatterns(`{"x":"${secret}"}`)).toBe(`{"x":"${R}"}`);
    expect(maskPatterns(`?q=${secret}&r=1`)).toBe(`?q=${R}&r=1`);
    expect(maskPatterns(`one\\n${secret}`)).toBe(`one\\n${R}`);
  });

  it("masks each of several secrets, wherever two of them meet", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...SECRETS), { maxLength: 5 }),
        fc.constantFrom(" ; ", ",", "\n", "\t", "/"),
        (some, join) => {
          expect(maskPatterns(some.join(join))).toBe(some.map(() => R).join(join));
        },
      ),
    );
  });

  it("gives back prose, identifiers, times, numbers and versions as they are", () => {
    const texts = [
      "Anna prefers a window seat; the bearer of this letter is known to us, and bearer authentication is used.",
      "123e4567-e89b-42d3-a456-426614174000",
      "00000000-0000-4000-8000-000000000000",
      "41111111-1111-1111-4111-111111111111",
      "2026-11-30T15:59:12.123Z",
      "2026-11-30T15:59:12.411111111111111111+01:00",
      "1764518352123",
      "1764518352123456",
      "0.4111111111111111",
      "9007199254740991",
      "1e-308",
      "1.2.3-beta.1",
      "lodash@4.17.21 react@next @scope/package",
      "bfe2923",
      "sk-folding-cube-animation task-force-members-and-deputies npm_config_registry_location",
      "+49 170 1234567",
      "call 2026-11-30 15 59",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaargh",
      "12345678901234567890",
      "@ @@ a@ @b.cd a@b user@localhost",
      "heyJude.is.good",
      "[redacted]",
      "",
    ];
    for (const text of texts) expect(maskPatterns(text)).toBe(text);
  });

  it("gives back every UUID, time and safe integer as it is", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uuid(),
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
          epochMs(),
        ),
        (text) => {
          expect(maskPatterns(`at ${text} and ${text}`)).toBe(`at ${text} and ${text}`);
        },
      ),
    );
  });

  describe("e-mail addresses", () => {
    it("are masked next to full stops, angle brackets, a scheme and escapes", () => {
      expect(maskPatterns("Write to <a.b@example.com>...")).toBe(`Write to <${R}>...`);
      expect(maskPatterns("mailto:anna@example.com?subject=x")).toBe(`mailto:${R}?subject=x`);
      expect(maskPatterns("anna%40example.com")).toBe(R);
      expect(maskPatterns("to=%20anna%40example.com")).toBe(`to=%20${R}`);
      expect(maskPatterns("https://medium.com/@some.name/x")).toBe("https://medium.com/@some.name/x");
      expect(maskPatterns("a@b.cd@e.fg")).toBe(`${R}@e.fg`);
      expect(maskPatterns("'anna@example.com'")).toBe(`'${R}'`);
    });

    it("end where a script without blanks goes on", () => {
      expect(maskPatterns("anna@example.com。谢谢")).toBe(`${R}。谢谢`);
      expect(maskPatterns("anna@example.com谢谢")).toBe(`${R}谢谢`);
    });

    it("of every shape lose their address", () => {
      fc.assert(
        fc.property(fc.emailAddress(), (address) => {
          expect(maskPatterns(`to ${address}`)).toContain(R);
          expect(maskPatterns(`to ${address}`)).not.toContain(address);
        }),
      );
    });
  });

  describe("bearer tokens", () => {
    it("are masked behind the word, which stays", () => {
      expect(maskPatterns("Authorization: Bearer mF_9.B5f-4.1JqM")).toBe(`Authorization: Bearer ${R}`);
      expect(maskPatterns("BEARER\tabcdefghijklmnop")).toBe(`BEARER\t${R}`);
      expect(maskPatterns(`bearer ${JWT}.`)).toBe(`bearer ${R}.`);
      expect(maskPatterns("curl -H 'authorization: bearer abc+/12345=='")).toBe(`curl -H 'authorization: bearer ${R}'`);
      expect(maskPatterns("Bearer Bearer abcdefgh1")).toBe(`Bearer Bearer ${R}`);
    });
  });

  describe("JSON web tokens", () => {
    it("are masked with all their parts: signed, encrypted, unsigned", () => {
      expect(maskPatterns("eyJhbGciOiJkaXIifQ..iviviv.cipher.tag")).toBe(R);
      expect(maskPatterns("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.")).toBe(`${R}.`);
      expect(maskPatterns(`access_token=${JWT}`)).toBe(`access_token=${R}`);
    });
  });

  describe("hex", () => {
    it("is masked from 32 digits on, where it stands alone", () => {
      expect(maskPatterns(HEX.slice(1))).toBe(HEX.slice(1));
      expect(maskPatterns(`sha256:${HEX}`)).toBe(`sha256:${R}`);
      expect(maskPatterns(`build-${HEX}-x`)).toBe(`build-${R}-x`);
      expect(maskPatterns(`z${HEX}`)).toBe(`z${HEX}`);
      expect(maskPatterns("0".repeat(32))).toBe(R);
    });
  });

  describe("card numbers", () => {
    it("are masked in groups of any length with single blanks or hyphens", () => {
      fc.assert(
        fc.property(fc.constantFrom(...CARDS), fc.infiniteStream(fc.constantFrom("", "", " ", "-")), (card, gaps) => {
          const written = [...card].map((digit, at) => (at === 0 ? digit : `${gaps.next().value}${digit}`)).join("");
          expect(maskPatterns(`card ${written}, ok`)).toBe(`card ${R}, ok`);
        }),
      );
    });

    it("are masked as printed among other numbers", () => {
      expect(maskPatterns("12 4111 1111 1111 1111 12 28")).toBe(`12 ${R} 12 28`);
      expect(maskPatterns("2026-11-30 3782 822463 10005 77777 7")).toBe(`2026-11-30 ${R} 77777 7`);
      expect(maskPatterns("4111-1111-1111-1111 5555-5555-5555-4444")).toBe(`${R} ${R}`);
    });

    it("stay when the check fails, the issuer is unknown, or the digits are too few or too many", () => {
      for (const text of [
        "4111111111111112",
        "9111111111111111",
        "4111111111116",
        "41111111111111111111",
        "4111  1111  1111  1111",
      ]) {
        expect(maskPatterns(text)).toBe(text);
      }
    });

    it("stay inside a word or a decimal fraction", () => {
      for (const text of ["a4111111111111111", "4111111111111111f", "1.4111111111111111"])
        expect(maskPatterns(text)).toBe(text);
    });
  });

  it("masks nothing more the second time", () => {
    const pieces = fc.constantFrom(
      ...SECRETS,
      ..."@ . - _ % %40 %20 \\n eyJ Bearer sk- SG. npm_ 0x 4 41 4111 1111 111111 a f z é 谢 [ ] [redacted]".split(" "),
      " ",
      "  ",
      "Bearer ",
      "a@b.cd",
      "0123456789abcdef",
      "41111111-1111-4111-8111-111111111111",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (some) => {
        const once = maskPatterns(some.join(""));
        expect(maskPatterns(once)).toBe(once);
      }),
      { numRuns: 3_000 },
    );
  });

  it("gets through long texts that are hostile to scanners", () => {
    const hostile = [
      "a@",
      "4111 1111 ",
      "4 ",
      "eyJ",
      "-eyJ",
      ".",
      "Bearer ",
      "a",
      "sk-",
      "sk-a-",
      "aZ9_-.",
      "a@a.a@a.",
      "a%40",
      "SG.",
      "é@",
    ];
    for (const piece of hostile) {
      const text = piece.repeat(Math.ceil(262_144 / piece.length));
      const once = maskPatterns(text);
      expect(maskPatterns(once) === once).toBe(true);
    }
  });
});

function epochMs(): fc.Arbitrary<string> {
  return fc.integer({ min: 0, max: 4_102_444_800_000 }).map(String);
}
