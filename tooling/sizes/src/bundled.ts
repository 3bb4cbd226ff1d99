// How much of a package ends in a bundle, by esbuild: minified, for Node, with and without what the package brings. And
// what an import costs that uses nothing of a door, which has to be nothing.

import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Bytes of a bundle, and of the same bundle after gzip. */
export interface BundleSize {
  readonly minified: number;
  readonly gzipped: number;
}

/** Bundles the program `source` (ES module text), which imports by name as if it stood in `folder`. */
export async function bundle(
  source: string,
  folder: string,
  { isAlone = false }: { readonly isAlone?: boolean } = {},
): Promise<BundleSize> {
  const name = /"([^"]+)"/.exec(source)?.[1] ?? "";
  const own = name.split("/").slice(0, 2).join("/");
  const result = await build({
    stdin: { contents: source, resolveDir: folder, loader: "js" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node22",
    legalComments: "none",
    logLevel: "error",
    // A client may look for a companion that nobody has to install.
    external: ["pg-native", "cardinal"],
    plugins: isAlone
      ? [
          {
            name: "alone",
            setup: ({ onResolve }) => {
              onResolve({ filter: /^[^./]/ }, ({ path }) =>
                path === own || path.startsWith(`${own}/`) ? undefined : { path, external: true },
              );
            },
          },
        ]
      : [],
  });
  const code = result.outputFiles[0]?.contents ?? new Uint8Array();
  return { minified: code.length, gzipped: code.length === 0 ? 0 : gzipSync(code, { level: 9 }).length };
}
