// A user with a browser: it follows redirects with its cookies, logs in where a form asks for a password, allows everything
// on each other form, and stops at the client's door, where nobody listens.
export class Browser {
  #cookies = new Map(); // by origin, then by name
  #user;

  // user, if given, has a name and a password.
  constructor(user) {
    this.#user = user;
  }

  // open returns the parameters of the redirect to the client.
  async open(address, redirect) {
    let url = new URL(address);
    let form;
    for (let hops = 0; hops < 20; hops++) {
      const jar = this.#cookies.get(url.origin) ?? new Map();
      this.#cookies.set(url.origin, jar);
      const headers = jar.size ? { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") } : {};
      if (form) headers.Origin = url.origin; // each page posts to its own server
      const answer = await fetch(url, { method: form ? "POST" : "GET", body: form, headers, redirect: "manual" });
      for (const line of answer.headers.getSetCookie()) {
        const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
        if (value === "") jar.delete(name);
        else jar.set(name, value);
      }
      const text = await answer.text();
      form = undefined;
      if (answer.headers.has("location")) {
        url = new URL(answer.headers.get("location"), url);
        if (url.href.startsWith(redirect)) return url.searchParams;
        continue;
      }
      const [, next] = answer.headers.get("refresh")?.match(/^0; url=(.*)$/) ?? [];
      if (next) {
        url = new URL(next, url);
        continue;
      }
      const filled = this.#fill(text);
      if (answer.status !== 200 || !filled) throw new Error(`the browser stands at ${url.origin}${url.pathname}: ${answer.status} ${text}`);
      form = filled.form;
      url = new URL(filled.action, url);
    }
    throw new Error("the browser is sent in circles");
  }

  // #fill answers the form of a page: with the user's name and password, or with yes.
  #fill(text) {
    const tag = [...text.matchAll(/<form\b[^>]*>/g)].map(([tag]) => attributes(tag)).find((form) => form.method?.toLowerCase() === "post");
    if (!tag) return undefined;
    const form = new URLSearchParams();
    const inputs = [...text.matchAll(/<input\b[^>]*>/g)].map(([input]) => attributes(input)).filter((input) => input.name && input.name !== "cancel");
    for (const { name, value } of inputs) form.append(name, value ?? "");
    if (inputs.some(({ type }) => type === "password")) {
      form.set("username", this.#user.name);
      form.set("password", this.#user.password);
    } else {
      form.append("answer", "allow");
    }
    return { form, action: tag.action };
  }
}

const entities = { amp: "&", lt: "<", gt: ">", quot: '"' };
const unescape = (text) => text.replace(/&(?:#(\d+)|(\w+));/g, (all, code, name) => (code ? String.fromCharCode(code) : entities[name] ?? all));
const attributes = (tag) => Object.fromEntries([...tag.matchAll(/\s([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, unescape(value)]));
