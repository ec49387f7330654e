package discovery

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"drawbridge/config"
	"drawbridge/gateway/localfile"
)

// savedState is the file that keeps services and approvals across restarts.
type savedState struct {
	Version   int                       `json:"version"`
	Providers map[string][]savedService `json:"providers"`
}

type savedService struct {
	Target   Target `json:"target"`
	Approved bool   `json:"approved"`
	Document string `json:"document,omitempty"`
	By       string `json:"found_by,omitempty"`
}

// stateVersion is the format of the file. A file of another one is not read.
const stateVersion = 1

// load reads the file; nil if there is none that can be used.
func (m *Manager) load() map[string][]savedService {
	if m.o.StateFile == "" {
		return nil
	}
	var state savedState
	text, err := os.ReadFile(m.o.StateFile)
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err == nil && state.Version != stateVersion {
		err = errors.New("it has another format")
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			m.o.Logger.Warn("services of the last run can't be read; they are discovered anew", "file", m.o.StateFile, "error", err)
		}
		return nil
	}
	return state.Providers
}

// restore gives a provider the services of the last run, until its registry answers.
func (m *Manager) restore(p *providerState, d *config.Discovery) {
	for _, saved := range m.restored[d.Name] {
		p.services[saved.Target.key()] = &service{
			target: saved.Target, seq: m.nextSeq(), approved: saved.Approved, present: true, location: saved.Document, by: saved.By,
		}
	}
	delete(m.restored, d.Name)
}

// save writes the file. A failure costs what the next start knows, and nothing now.
func (m *Manager) save() {
	if m.o.StateFile == "" || len(m.providers) == 0 {
		return // the file of providers that are gone does no harm
	}
	state := savedState{Version: stateVersion, Providers: map[string][]savedService{}}
	for _, p := range m.providers {
		for _, key := range p.keys() {
			s := p.services[key]
			state.Providers[p.d.Name] = append(state.Providers[p.d.Name], savedService{s.target, s.approved, s.location, s.by})
		}
	}
	text, err := json.Marshal(state)
	if err == nil {
		err = localfile.Replace(m.o.StateFile, ".discovery-", text)
	}
	if err != nil {
		m.o.Logger.Warn("services can't be kept for the next start", "file", m.o.StateFile, "error", err)
	}
}
