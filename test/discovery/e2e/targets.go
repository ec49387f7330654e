package main

import (
	"encoding/json"
	"maps"
	"sync"
)

// targets are services as target groups, the format of file_sd and http_sd.
type targets struct {
	mu       sync.Mutex
	services map[string]*service
}

// change adds, replaces and, where it is nil, removes services.
func (t *targets) change(services map[string]*service) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.services == nil {
		t.services = map[string]*service{}
	}
	maps.Copy(t.services, services)
	maps.DeleteFunc(t.services, func(_ string, s *service) bool { return s == nil })
}

func (t *targets) text() []byte {
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	groups := make([]group, 0, len(t.services))
	for name, s := range t.services {
		groups = append(groups, group{[]string{s.address}, map[string]string{"service": name, "openapi": s.path()}})
	}
	text, _ := json.Marshal(groups) // strings can be written
	return text
}
