// The upgrade test, from outside: the family is released to a registry of its own, strangers' projects install it with npm,
// pnpm and yarn, a function is renamed with a shim and released, the strangers upgrade in either order, and the shim is taken
// away. Nothing of the working tree is touched, and nothing is left. Exit code 1 when a step failed.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PostgresPrimary, startPostgres, startRedis } from "@tooling/servers";
import { must } from "./command.ts";
import { type ConsumerPlan, leaveOldName, type Order, useConsumer } from "./consumer.ts";
import {
  CASE,
  CODE,
  changeset,
  deprecateOldName,
  NEW_NAME,
  OLD_NAME,
  removeOldName,
  removeUnannounced,
  UNANNOUNCED,
} from "./example.ts";
import { copyFamily, type Family } from "./family.ts";
import { type Installer, installerOf, managers } from "./managers.ts";
import { type Registry, startRegistry } from "./registry.ts";
import { attempt, failures, need, needAll, StepError } from "./steps.ts";
import { copyStranger } from "./stranger.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const tsc = join(dirname(createRequire(join(root, "package.json")).resolve("typescript/package.json")), "bin", "tsc");
const folder = mkdtempSync(join(realpathSync(tmpdir()), "memory-upgrade-"));
const KEPT = process.argv.includes("--keep");

try {
  await main();
} catch (error) {
  if (!(error instanceof StepError)) throw error;
} finally {
  if (KEPT) console.log(`kept in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures() === 0 ? 0 : 1;

async function main(): Promise<void> {
  mkdirSync(join(folder, "registry"));
  await using registry = await startRegistry(join(folder, "registry"), ["@memory", "@third-party"]);
  const family = await need("a copy of the family, in a repository of its own", () =>
    copyFamily(root, join(folder, "family"), registry),
  );
  const first = await need("the first release, from its changesets to the registry", () => family.release());
  const [, minor = 0] = first.split(".").map(Number);
  assert.ok(first.startsWith("0."), "from 1.0 on the example has to be removed by a major");
  const second = `0.${minor + 1}.0`;
  const third = `0.${minor + 2}.0`;
  await need(`what ${first} asks of its users`, () => checkManifests(registry, first, `>=${first} <1`));

  await using redis = await startRedis({ source: "local" });
  await using postgres = await startPostgres({ extensions: ["vector"] });
  const servers = { redis: redis.url, postgres: postgres.url };
  await need(`tables by the schema of ${first}`, () => makeTables(family, postgres));

  const installers = managers.map((manager) => installerOf(manager, registry));
  const strangers = installers.map((installer) =>
    copyStranger(join(root, "tooling/third-party"), join(folder, "strangers", installer.manager), installer),
  );
  await needAll(
    strangers.map((stranger, index) => [
      `${stranger.name} is installed beside ${first} with ${managers[index]}`,
      () => stranger.install(first),
    ]),
  );
  const [stranger] = strangers;
  assert.ok(stranger !== undefined);
  await need(`${stranger.name} keeps what it declares by the suite of ${first}, and is published`, async () => {
    const { conforms, suite, core, kept } = await stranger.judge();
    assert.deepEqual([conforms, suite, core], [true, first, first]);
    assert.ok(kept.length > 0 && !kept.includes(CASE));
    await stranger.publish();
  });

  await need(`${OLD_NAME} gets a better name and stays as a shim`, () => releaseShim(family, second, third));
  await need(`what ${second} asks of its users: adapters that needed nothing new take ${first} too`, async () => {
    await checkManifests(registry, second, `>=${first} <1`);
    const suite = await registry.manifestOf("@memory/testing", second);
    assert.equal(suite.peerDependencies?.["@memory/core"], `>=${second} <1`);
  });

  const planOf = (installer: Installer, order: Order): ConsumerPlan => {
    const place = join(folder, "consumers", `${installer.manager} ${order}`);
    return { installer, order, folder: place, tsc, stranger, servers };
  };
  await Promise.all(
    installers.map(async (installer, index) => {
      for (const order of ["core first", "adapters first"] as const) {
        await attempt(`a consumer with ${installer.manager} goes from ${first} to ${second}, ${order}`, async () => {
          const runs = await useConsumer(planOf(installer, order), first, second);
          assert.deepEqual(
            runs.map(({ core, warnings }) => [core, warnings]),
            runs.map(({ core }) => [core, core === second ? [CODE] : []]),
          );
        });
      }
      await attempt(`${stranger.name} compiles beside ${second} with ${installer.manager}, unchanged`, async () => {
        await strangers[index]?.install(second);
      });
    }),
  );
  await attempt(`${stranger.name}, unchanged, keeps what it declares by the suite of ${second}`, async () => {
    const { conforms, suite, core, kept } = await stranger.judge();
    assert.deepEqual([conforms, suite, core], [true, second, second]);
    assert.ok(kept.includes(CASE), "the new case was among them");
  });
  await attempt("a removal of what nobody was told of is refused, whatever its changeset", () =>
    refuseUnannounced(family),
  );
  await need(`the release without ${OLD_NAME} is refused until a changeset is large enough`, () =>
    releaseRemoval(family, second, third),
  );
  await attempt(
    `a consumer that did not heed the warning is told by its compiler, and goes on to ${third}`,
    async () => {
      const [installer] = installers;
      assert.ok(installer !== undefined);
      const { warnings } = await leaveOldName(planOf(installer, "core first"), third, OLD_NAME, NEW_NAME);
      assert.deepEqual(warnings, []);
    },
  );
}

async function makeTables(family: Family, postgres: PostgresPrimary): Promise<void> {
  for (const args of [["postgres"], ["pgvector", "--dimensions", "3"]]) {
    const [name, ...options] = args;
    const bin = join(family.folder, `packages/${name}/dist/bin.js`);
    const { stdout } = await must(process.execPath, [bin, ...options], { cwd: folder });
    await postgres.psql(stdout);
  }
}

async function checkManifests(registry: Registry, version: string, range: string): Promise<void> {
  for (const name of ["pgvector", "postgres", "redis", "routed"]) {
    const { peerDependencies, scripts } = await registry.manifestOf(`@memory/${name}`, version);
    assert.deepEqual(peerDependencies, { "@memory/core": range }, name);
    for (const script of ["preinstall", "install", "postinstall"]) assert.equal(scripts?.[script], undefined, name);
  }
}

async function releaseShim(family: Family, version: string, removal: string): Promise<void> {
  deprecateOldName(family, version, removal);
  const stale = await family.script("check");
  assert.notEqual(stale.code, 0, "the page of deprecations is stale");
  await family.mustScript("check", "--write");
  assert.match(family.read("docs/deprecations.md"), new RegExp(`${CODE}.*${OLD_NAME}.*${version}.*${removal}`));
  await family.mustScript("api");
  await family.commit("a better name");
  assert.equal(await family.release(), version);
  assert.match(
    family.read("packages/core/CHANGELOG.md"),
    new RegExp(`^## ${version}\n[^#]+### Minor[^#]+${OLD_NAME}`, "m"),
  );
}

async function refuseUnannounced(family: Family): Promise<void> {
  removeUnannounced(family);
  family.write(".changeset/removal.md", changeset("minor", "Gone."));
  const ended = await family.script("check");
  await family.takeBack();
  assert.notEqual(ended.code, 0, "the check let it pass");
  assert.match(ended.output, new RegExp(`${UNANNOUNCED}.*was not @deprecated`));
}

async function releaseRemoval(family: Family, since: string, version: string): Promise<void> {
  removeOldName(family, since, version);
  await family.mustScript("api");
  for (const size of [undefined, "patch", "minor"] as const) {
    if (size !== undefined) family.write(".changeset/removal.md", changeset(size, `\`${OLD_NAME}\` is gone.`));
    const ended = await family.script("check", "--write");
    assert.equal(ended.code === 0, size === "minor", `with ${size ?? "no"} changeset:\n${ended.output}`);
    if (size !== "minor") assert.match(ended.output, new RegExp(`needs a minor changeset and has ${size ?? "none"}`));
  }
  await family.commit("the old name is gone");
  assert.equal(await family.release(), version);
  assert.match(family.read("docs/deprecations.md"), /Nothing is deprecated/);
}
