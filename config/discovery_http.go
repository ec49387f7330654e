package config

func (*HTTPDiscovery) namespaces(string) []string { return []string{""} }

func (*HTTPDiscovery) mayOmitNamespace() bool { return true }

func (*HTTPDiscovery) basePathKey() string { return "the label base_path" }

func (*HTTPDiscovery) isTrusted() bool { return false }
