package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// starterFile is the configuration that init writes. Texts from the document stand in comments as one line, and in values
// quoted: a document can't configure the gateway.
type starterFile struct {
	spec     string // as the file names the document
	api      *described
	issuer   string // "" if callers need no token
	variable string // of the credential; "" if there is none
	base     string // of --base-url; "" for that of the document
}

// String returns the file.
func (f starterFile) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# drawbridge serves %s (OpenAPI %s, %s) as MCP tools.
#   drawbridge check   reports what is served, and what is wrong
#   drawbridge tools   lists the tools
#   drawbridge serve   serves them at http://127.0.0.1:8080/mcp
# ${NAME} is an environment variable, ${file:PATH} the content of a file. Each key is explained in docs/configuration.md.

server:
  listen: 127.0.0.1:8080                 # where clients connect
  # public_url: https://mcp.example.com  # the URL that clients use, if a proxy stands in front

admin:
  listen: 127.0.0.1:9090                 # health, metrics and the state of APIs: for operators only
  # token: ${ADMIN_TOKEN}                # 16 characters or more; signs in to the console at /console

`, strconv.Quote(oneLine(f.api.title)), oneLine(f.api.standard), count(f.api.tools, "tool"))
	f.auth(&b)
	b.WriteString("tools:\n" + remark("  names: short", "operation_id takes operationIds as they are") + "\n")
	fmt.Fprintf(&b, "apis:\n  - name: %s\n    spec: %s\n", quoted(f.api.name), quoted(f.spec))
	f.writeBase(&b)
	f.credential(&b)
	b.WriteString(`    # refresh: 5m                        # how often a document from a URL is checked for changes
    # tools:
    #   exclude: [{method: DELETE}]      # operations to leave out; include lists those to keep

# rules:                                 # settings of single operations; later rules win
#   - match: {method: POST}
#     set: {confirm: true}               # the user confirms each call
`)
	return b.String()
}

func (f starterFile) auth(b *strings.Builder) {
	if f.issuer == "" {
		b.WriteString(`# Callers need no token, so only loopback addresses can be served. For others, require tokens:
# auth:
#   issuers:
#     - issuer: https://idp.example.com/realms/acme
#   default_scopes: [mcp:tools]          # what a call needs, unless a rule says otherwise

`)
		return
	}
	b.WriteString("auth:\n  issuers:\n" +
		remark("    - issuer: "+quoted(f.issuer), "whose tokens are accepted") +
		remark("      # audiences: [https://mcp.example.com/mcp]", "default: the URL of the gateway") +
		remark("  default_scopes: [mcp:tools]", "what a call needs, unless a rule says otherwise") + "\n")
}

// local reports whether the document is a file: a credential is sent only to a base_url that the configuration has then.
func (f starterFile) local() bool { return !strings.Contains(f.spec, "://") }

// lacksBase reports whether a credential can't be configured, because it is not known where it may be sent.
func (f starterFile) lacksBase() bool { return f.local() && f.api.base == "" }

func (f starterFile) writeBase(b *strings.Builder) {
	switch {
	case f.api.base == "":
		fmt.Fprintf(b, "    # No call can be made without it: %s\n    # base_url: https://api.example.com/v1\n", oneLine(f.api.baseProblem))
	case f.base != "":
		b.WriteString(remark("    base_url: "+quoted(f.base), "where calls and the credential are sent"))
	case f.local():
		b.WriteString(remark("    base_url: "+quoted(f.api.base), "where calls and the credential are sent, as the document says"))
	default:
		b.WriteString(remark("    # base_url: "+quoted(f.api.base), "from the document; set it to send calls elsewhere"))
	}
}

func (f starterFile) credential(b *strings.Builder) {
	s, variable, comment := f.api.scheme, f.variable, ""
	switch {
	case variable != "" && f.lacksBase():
		b.WriteString("    # Set base_url above, then remove the comment signs:\n")
		comment = "# "
		if s == nil {
			s = &bearerScheme
		}
	case s == nil && variable == "":
		b.WriteString(remark(`    # credential: {type: bearer, token: "${API_TOKEN}"}`, "sent to the API, never shown to clients"))
		return
	case s == nil:
		s = &bearerScheme
	case variable == "":
		variable, comment = s.variable(), "# "
		fmt.Fprintf(b, "    # The API requires %s. Set the variable and remove the comment signs:\n", oneLine(s.describe()))
	}
	b.WriteString(remark("    "+comment+"credential:", "sent to the API, never shown to clients"))
	for _, line := range s.lines(variable) {
		b.WriteString("    " + comment + line + "\n")
	}
}

// bearerScheme is that of a document which declares none.
var bearerScheme = scheme{name: "bearer", kind: "http", http: "bearer"}

// lines returns the configuration of a credential, below its key.
func (s *scheme) lines(variable string) []string {
	reference := "${" + variable + "}"
	switch {
	case s.kind == "apiKey":
		return []string{"  type: api_key", "  in: " + quoted(s.in), "  name: " + quoted(s.key), "  value: " + reference}
	case s.kind == "http" && s.http == "basic":
		return []string{"  type: basic", "  username: ${" + userVariable(variable) + "}", "  password: " + reference}
	}
	return []string{"  type: bearer", "  token: " + reference}
}

// remark returns a line with a comment in the column of the others; "" is none.
func remark(line, comment string) string {
	const column = 42
	if comment == "" {
		return line + "\n"
	}
	return fmt.Sprintf("%-*s  # %s\n", column-3, line, comment)
}

var plainScalar = regexp.MustCompile(`^(\.{0,2}/)*[A-Za-z][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*$`)

// quoted returns a YAML scalar for a string that is not to be expanded.
func quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plainScalar.MatchString(text) {
			return text
		}
	}
	return strconv.Quote(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "$", "$$"))
}
