// The "prepack" and "postpack" scripts: a package has the VERSION and the MANIFEST.sha256 of a vendored copy, which a checkout has
// not, for its files change.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { home, inOrder } from "./bundle.mjs";

const manifest = join(home, "MANIFEST.sha256");
const version = join(home, "VERSION");

/** @param {string} path */
const bytesOf = (path) => readFileSync(join(home, path));

rmSync(manifest, { force: true });
rmSync(version, { force: true });
if (process.argv[2] === "write") {
  writeFileSync(version, `${JSON.parse(bytesOf("package.json").toString("utf8")).version}\n`);
  const answer = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: home, encoding: "utf8" });
  /** @type {string[]} */
  const paths = JSON.parse(answer)[0].files.map((/** @type {{ path: string }} */ file) => file.path);
  const lines = inOrder(paths).map((path) => `${createHash("sha256").update(bytesOf(path)).digest("hex")}  ${path}\n`);
  writeFileSync(manifest, lines.join(""));
}
