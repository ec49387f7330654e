package config

import (
	"fmt"
	"strings"
)

func (l *loader) apis(cfg *Config) {
	switch {
	case len(cfg.APIs) > 0 || l.given("discovery") || !l.ok("apis"):
	case l.given("apis"):
		l.errorf("apis", "is empty; it needs at least one OpenAPI document")
	default:
		l.errorf("apis", "is required, unless discovery finds services")
	}
	for i := range cfg.APIs {
		api, key := &cfg.APIs[i], fmt.Sprintf("apis[%d]", i)
		l.name(key, api, cfg.APIs[:i])
		l.rootDirectory(key, api)
		l.overlays(key+".overlays", api)
		l.credentials(cfg, key, api)
		l.apiSettings(cfg, key, api)
	}
}

// apiSettings checks the settings that APIs of services that are discovered may have, too.
func (l *loader) apiSettings(cfg *Config, key string, api *API) {
	l.slashes(key+".slash_parameters", api.SlashParameters)
	l.dropArguments(key+".drop_arguments", api.DropArguments)
	l.documentScopes(cfg, key, api)
	if l.given(key+".output_schemas") && api.Answers == AnswersText && api.OutputSchemas == OutputLoose && l.ok(key+".answers") {
		l.errorf(key+".output_schemas", "can't be loose with answers: text: a tool with an output schema must answer with structuredContent")
	}
	l.links(key+".links", api.Links)
	l.authority(key+".ca_file", api.CAFile)
	for name, list := range map[string]Selectors{"include": api.Tools.Include, "exclude": api.Tools.Exclude} {
		k := key + ".tools." + name
		if l.given(k) && len(list) == 0 && l.ok(k) {
			l.errorf(k, "is empty; leave it out, or select something")
		}
		l.selectors(k, list)
		for j, sel := range list {
			if len(sel.API) > 0 {
				at := selectorKey(l, k, j) + ".api"
				l.errorf(at, "can't stand here: the selector is for this API alone")
			}
		}
	}
}

func (l *loader) name(key string, api *API, earlier []API) {
	for j, other := range earlier {
		switch {
		case api.Name != "" && strings.EqualFold(other.Name, api.Name):
			l.errorf(key+".name", "%q is already the name of apis[%d]", api.Name, j)
			return
		case api.Name == "" && other.Name == "" && api.Spec == other.Spec && api.Spec != "":
			l.errorf(l.specKey(key), "%q is listed twice; remove one, or give each a name", api.Spec)
			return
		}
	}
	if api.Name != "" && !apiName.MatchString(api.Name) && l.ok(key+".name") {
		l.errorf(key+".name", "%s must be a letter or digit, then letters, digits, _ and -, at most 40", quote(api.Name))
	}
}

// specKey returns the key path of a document, which in a bare list is the list position.
func (l *loader) specKey(api string) string {
	if bare := strings.TrimPrefix(api, "apis"); l.given(bare) {
		return bare
	}
	return api + ".spec"
}
