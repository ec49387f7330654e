package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReloadTags holds that each key says what its change means, itself or by what it is in, and that no tag stands where nothing reads it.
func TestReloadTags(t *testing.T) {
	effects := []reloadEffect{reloadLive, reloadReconnect, reloadRecompile, reloadRestart}
	seen := 0
	eachEffect(reflect.TypeFor[Config](), "", "", nil, func(key string, effect reloadEffect, _ []int) {
		seen++
		if !slices.Contains(effects, effect) {
			t.Errorf("%s: a change of it means %q", key, effect)
		}
	})
	// API is tagged below Config.APIs, which is a list: [API.Compiled] reads it by itself.
	read := map[reflect.Type]bool{reflect.TypeFor[Config](): true, reflect.TypeFor[API](): true}
	for _, of := range structs() {
		for _, f := range fieldsOf(of) {
			sf := of.Field(f.index)
			if read[of] && tagged(sf.Type) {
				read[sf.Type] = true
			}
			switch tag := reloadEffect(sf.Tag.Get("reload")); {
			case tag == "":
			case !read[of]:
				t.Errorf("%s.%s: nothing reads the tag reload there", of.Name(), sf.Name)
			case !slices.Contains(effects, tag):
				t.Errorf("%s.%s: reload:%q", of.Name(), sf.Name, tag)
			case of == reflect.TypeFor[API]() && tag != reloadReconnect, of == reflect.TypeFor[Limits]() && tag == sectionEffect("Limits"):
				t.Errorf("%s.%s: reload:%q", of.Name(), sf.Name, tag)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d keys", seen)
	}
}

// restartKeys are the keys with the tag reload:"restart".
func restartKeys() (keys []string) {
	eachEffect(reflect.TypeFor[Config](), "", "", nil, func(key string, effect reloadEffect, _ []int) {
		if effect == reloadRestart {
			keys = append(keys, key)
		}
	})
	slices.Sort(keys)
	return keys
}

// TestRestartIsDocumented holds the marks of the manual and the digest of the chart, which exchanges pods, against the tags.
func TestRestartIsDocumented(t *testing.T) {
	want := restartKeys()
	pages, err := filepath.Glob(pagesDir + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, page := range append(pages, manualFile) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		section := ""
		for line := range strings.Lines(string(text)) {
			if heading, ok := strings.CutPrefix(line, "## "); ok && page != manualFile {
				section = strings.Trim(heading, "`\n")
			}
			if m := regexp.MustCompile("^\\| \\[?`(\\w+)`.*\\*\\*Restart\\.\\*\\* \\|$").FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				documented = append(documented, join(section, m[1]))
			}
		}
	}
	if slices.Sort(documented); !slices.Equal(documented, want) {
		t.Errorf("%s and its pages: marked are %q, the tags are those of %q", manualFile, documented, want)
	}

	const chart = "../deploy/helm/drawbridge/templates/_helpers.tpl"
	template, err := os.ReadFile(chart)
	if err != nil {
		t.Fatal(err)
	}
	_, digest, ok := strings.Cut(string(template), `{{- define "drawbridge.restart" -}}`)
	digest, _, end := strings.Cut(digest, "toJson")
	if !ok || !end {
		t.Fatalf("%s has no digest of these settings", chart)
	}
	var digested []string
	for _, m := range regexp.MustCompile(`\(pick (?:\$c\.(\w+)|\(\$c\.(\w+) \| default dict\))((?: "\w+")+)\)|"(\w+)" \$c\.(\w+)`).FindAllStringSubmatch(digest, -1) {
		if m[5] != "" {
			digested = append(digested, m[5])
		}
		for _, key := range strings.Fields(m[3]) {
			digested = append(digested, m[1]+m[2]+"."+strings.Trim(key, `"`))
		}
	}
	if slices.Sort(digested); !slices.Equal(digested, want) {
		t.Errorf("%s: the digest has %q, the tags %q", chart, digested, want)
	}
}

// TestRestartOnly holds that a process serves what it was started with, in each key that is read at the start alone, and says so; the
// others are those of the new configuration.
func TestRestartOnly(t *testing.T) {
	filled := reflect.New(reflect.TypeFor[Config]()).Elem()
	eachEffect(filled.Type(), "", "", nil, func(_ string, _ reloadEffect, index []int) { fill(filled.FieldByIndex(index)) })
	started, c := filled.Addr().Interface().(*Config), &Config{}
	if keys := c.RestartKeys(started); !slices.Equal(keys, restartKeys()) {
		t.Errorf("keys that differ: %q, want %q", keys, restartKeys())
	}
	served := c.ServedAs(started)
	if keys := served.RestartKeys(started); len(keys) > 0 {
		t.Errorf("what is served differs from the start in %q", keys)
	}
	eachEffect(filled.Type(), "", "", nil, func(key string, effect reloadEffect, index []int) {
		from := filled
		if effect != reloadRestart {
			from = reflect.ValueOf(c).Elem()
		}
		if got := reflect.ValueOf(served).Elem().FieldByIndex(index).Interface(); !reflect.DeepEqual(got, from.FieldByIndex(index).Interface()) {
			t.Errorf("%s (%s): %v is served", key, effect, got)
		}
	})
	if !reflect.DeepEqual(c, &Config{}) {
		t.Error("the new configuration was changed")
	}
}

// TestRestartKeys holds that a reload names what it can't put into use, above all what would tighten access.
func TestRestartKeys(t *testing.T) {
	old, c := Config{}, Config{}
	if keys := c.RestartKeys(&old); len(keys) > 0 {
		t.Errorf("no change: %v", keys)
	}
	c.Admin.Token = NewSecret("another") // is put into use, as most is
	c.APIs = []API{{Name: "a"}}
	c.Server.Listen, c.Admin.Listen, c.Server.TLS, c.Server.OldTransport = "127.0.0.1:1", "127.0.0.1:2", &TLS{}, true
	c.Server.StateDir = "/s"
	c.Limits.MaxHeader, c.Telemetry.LogFormat, c.Telemetry.OTLPEndpoint = 1, LogText, &URL{}
	want := []string{"admin.listen", "limits.max_header", "server.listen", "server.old_transport", "server.state_dir", "server.tls", "telemetry.log_format", "telemetry.otlp_endpoint"}
	if keys := c.RestartKeys(&old); !slices.Equal(keys, want) {
		t.Errorf("keys = %v, want %v", keys, want)
	}
	if keys := c.ServedAs(&old).RestartKeys(&old); len(keys) > 0 {
		t.Errorf("a configuration as it is served has what only a restart brings: %v", keys)
	}
}

// fill makes a value one that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Secret]() {
			v.Set(reflect.ValueOf(NewSecret("x")))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	default:
		panic("config: a value of " + v.Type().String())
	}
}

// TestCompiled holds which keys a document is compiled by.
func TestCompiled(t *testing.T) {
	api := reflect.New(reflect.TypeFor[API]()).Elem()
	var compiled []string
	for _, f := range fieldsOf(api.Type()) {
		one := API{}
		fill(reflect.ValueOf(&one).Elem().Field(f.index))
		if got := one.Compiled(); !reflect.DeepEqual(got, API{}) {
			compiled = append(compiled, f.name)
		}
	}
	want := strings.Fields("spec root overlays base_url scopes_from_document scope_map schema_profile output_schemas answers answer_headers html clean " +
		"server_variables slash_parameters follow_redirects allow_servers trust_extensions allow_refs")
	if slices.Sort(compiled); !slices.Equal(compiled, slices.Sorted(slices.Values(want))) {
		t.Errorf("compiled by %q", compiled)
	}
	l := Limits{MaxHeader: 1, MaxSchema: 2, MaxDepth: 3, MaxCalls: 4, AddressRate: Rate{Burst: 5}, PrincipalRate: Rate{Burst: 6}, PrincipalRates: []PrincipalRate{{}}}
	if got := l.Compiled(); !reflect.DeepEqual(got, Limits{MaxSchema: 2, MaxDepth: 3}) {
		t.Errorf("compiled by %+v", got)
	}
	if got := l.OfSources(); !reflect.DeepEqual(got, Limits{MaxSchema: 2, MaxDepth: 3, MaxCalls: 4}) {
		t.Errorf("sources have %+v", got)
	}
}
