// A user with a browser: it follows redirects with its cookies, allows everything on each form, and stops at the client's
// door, where nobody listens.
export class Browser {
  #cookies = new Map(); // by origin, then by name

  // open returns the parameters of the redirect to the client.
  async open(address, redirect) {
    let url = new URL(address);
    let form;
    for (let hops = 0; hops < 20; hops++) {
      const jar = this.#cookies.get(url.origin) ?? new Map();
      this.#cookies.set(url.origin, jar);
      const headers = jar.size ? { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") } : {};
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
      const action = text.match(/<form method="post" action="([^"]*)"/);
      if (answer.status !== 200 || !action) throw new Error(`the browser stands at ${url.origin}${url.pathname}: ${answer.status} ${text}`);
      form = new URLSearchParams({ answer: "allow" });
      for (const [, name, value] of text.matchAll(/<input type="\w+" name="(\w+)" value="([^"]*)"/g)) form.append(name, value);
      url = new URL(action[1], url);
    }
    throw new Error("the browser is sent in circles");
  }
}
