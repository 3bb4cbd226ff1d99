// A throw-away certificate authority and a server certificate for loopback, made by openssl for one server.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "./binaries.ts";
import { MissingServerError } from "./missing.ts";

/** Paths of the files, and the authority's certificate as text for a client. */
export interface Certificates {
  readonly ca: string;
  readonly caPath: string;
  readonly certificatePath: string;
  readonly keyPath: string;
}

/**
 * Writes ca.pem, server.pem and server.key into the folder. The certificate is good for 127.0.0.1 and localhost.
 *
 * @throws {MissingServerError} when openssl is not installed.
 */
export function createCertificates(folder: string): Certificates {
  const openssl = findOnPath("openssl");
  if (openssl === undefined) throw new MissingServerError("TLS needs openssl, which is not installed");
  const path = (name: string) => join(folder, name);
  const newKey = ["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const run = (args: readonly string[]) => execFileSync(openssl, args, { stdio: "pipe" });
  run([...newKey, "-keyout", path("ca.key"), "-out", path("ca.pem"), "-subj", "/CN=throw-away authority"]);
  run([
    ...newKey,
    ...["-keyout", path("server.key"), "-out", path("server.pem"), "-subj", "/CN=localhost"],
    ...["-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
  ]);
  return {
    ca: readFileSync(path("ca.pem"), "utf8"),
    caPath: path("ca.pem"),
    certificatePath: path("server.pem"),
    keyPath: path("server.key"),
  };
}
