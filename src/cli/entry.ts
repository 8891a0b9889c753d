/** What the launcher runs; the bundle is built from here and lies as deep below the toolkit's folder as this file. */
import { main } from "./main.ts";

void main(`${import.meta.dirname}/../..`, process.argv.slice(2));
