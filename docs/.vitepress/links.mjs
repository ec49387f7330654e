import { posix } from "node:path";
import { isFile, pageOf } from "./files.mjs";

/** The files other than pages that pages link to, as paths of the repository. */
export const linkedFiles = new Set();

/**
 * Resolves links as a reader of the repository does. A link to a page leads to that page of the site, one to a file of docs or deploy to
 * its copy, one to anything else to the source code at options.source; without a source it becomes text.
 */
export function repositoryLinks(md, options) {
  md.core.ruler.push("repository-links", (state) => {
    for (const block of state.tokens) {
      let unlinked = false;
      for (const token of block.children ?? []) {
        if (token.type === "link_open") {
          unlinked = !resolve(token, state.env.relativePath, options);
          if (unlinked) [token.tag, token.attrs] = ["span", []];
        } else if (token.type === "link_close" && unlinked) {
          [token.tag, unlinked] = ["span", false];
        }
      }
    }
  });
}

/** The name of a heading in links, as in the repository: lower case, blanks as hyphens, without signs. */
export const anchorOf = (heading) => heading.trim().toLowerCase().replaceAll(" ", "-").replaceAll(/[^\p{L}\p{N}_-]/gu, "");

/** Rewrites the target of a link; false if it leads nowhere on the site. */
function resolve(token, page, { base, source }) {
  const [target, ...anchor] = token.attrGet("href").split("#");
  if (target === "" || /^[a-z][a-z0-9+.-]*:/.test(target)) return true;
  const path = posix.join(posix.dirname(page), decodeURI(target));
  const found = pageOf(path);
  if (found) {
    token.attrSet("href", ["/" + found, ...anchor].join("#"));
    return true;
  }
  if (path.endsWith(".md")) return true; // the generator reports a dead link
  const file = isFile(path);
  if (file) linkedFiles.add(path);
  if (!file && !source) return false;
  token.attrSet("href", file ? base + path : `${source}/${path}`);
  token.attrSet("target", "_self"); // not a page: the router leaves it to the browser
  return true;
}
