import { writings, prepared } from "./commands.ts";
import { memoryFolder, rememberingGit } from "./machine.ts";
import { plain, faultsOf } from "./judge.ts";
import { join } from "node:path";
const folder = memoryFolder();
const only = process.argv[2];
const kinds = (process.argv[3] ?? "once,from,kill").split(",") as ("once"|"from"|"kill")[];
let i = 0, runs = 0;
const t = performance.now();
for (const w of writings) {
  const root = join(folder, `r${i++}`);
  if (only && !w.title.startsWith(only)) continue;
  await rememberingGit(async () => {
    let p;
    try { p = await plain(root, w, await prepared(root, w)); } catch (e) { console.log(String(e)); return; }
    const t0 = performance.now();
    const all = new Map<string, number>();
    for (const kind of kinds) for (let at = 1; at <= p.count; at++) {
      runs++;
      for (const wrong of await faultsOf(p, { kind, at, code: ["ENOSPC","EIO","EACCES","EROFS"][at % 4]! })) {
        const key = wrong.replace(/at \d+/, "at N").replace(/(ENOSPC|EIO|EACCES|EROFS)/, "E").slice(0, 420);
        all.set(key, (all.get(key) ?? 0) + 1);
        if (all.get(key) === 1) console.log(wrong.slice(0, 700));
      }
    }
    console.log("##", w.title, p.count, (performance.now() - t0).toFixed(0), [...all.values()].reduce((a, b) => a + b, 0));
  });
}
console.log(runs, (performance.now() - t).toFixed(0));
