package config

func (h *HTTPDiscovery) validate(l *loader, key string) {
	l.authority(key+".ca_file", h.CAFile)
	l.clearToken(key, "url", h.URL, h.Token)
}

func (*HTTPDiscovery) namespaces(string) []string { return []string{""} }

func (*HTTPDiscovery) mayOmitNamespace() bool { return true }

func (*HTTPDiscovery) basePathKey() string { return "the label base_path" }

func (*HTTPDiscovery) isTrusted() bool { return false }
