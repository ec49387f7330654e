// Copies an OpenAPI document with the files that it refers to, without the references that lead nowhere: Prism refuses a
// whole document for one of them. The gateway reads the document as it is, and takes such a reference for {} too.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const require = createRequire(import.meta.url);
const { parse } = require("@stoplight/yaml");

const isObject = (v) => typeof v === "object" && v !== null;

// read parses a file once; undefined is a file that is not there or can't be read.
function reader() {
  const files = new Map();
  return (path) => {
    if (!files.has(path)) {
      let tree;
      try {
        if (existsSync(path) && statSync(path).isFile()) tree = parse(readFileSync(path, "utf8"));
      } catch {
        tree = undefined;
      }
      files.set(path, tree);
    }
    return files.get(path);
  };
}

// target follows a JSON pointer; anything else after "#" is taken for found.
function found(tree, fragment) {
  if (!fragment) return tree !== undefined;
  if (!fragment.startsWith("/")) return true;
  let at = tree;
  for (const step of fragment.slice(1).split("/")) {
    let name = step;
    try {
      name = decodeURIComponent(step);
    } catch {
      // it is taken as it stands
    }
    name = name.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(at) || !(name in at)) return false;
    at = at[name];
  }
  return true;
}

// mend writes the copy below directory and returns where it is, and how many references were taken out.
export function mend(location, directory) {
  const read = reader();
  const written = new Set();
  let removed = 0;
  const copy = (path) => {
    if (written.has(path)) return;
    written.add(path);
    const tree = structuredClone(read(path));
    const seen = new Set();
    const visit = (node) => {
      if (!isObject(node) || seen.has(node)) return;
      seen.add(node);
      if (typeof node.$ref === "string" && !reaches(path, node.$ref)) {
        delete node.$ref;
        removed++;
      }
      Object.values(node).forEach(visit);
    };
    visit(tree);
    const to = join(directory, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, JSON.stringify(tree));
  };
  const reaches = (from, ref) => {
    const [file, fragment = ""] = ref.split("#", 2);
    if (/^[a-z]+:/i.test(file)) return false; // nothing is fetched
    const path = file ? resolve(dirname(from), decodeURI(file)) : from;
    if (!found(read(path), fragment)) return false;
    copy(path);
    return true;
  };
  copy(resolve(location));
  return { path: join(directory, resolve(location)), removed };
}
