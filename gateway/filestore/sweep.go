package filestore

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"
)

// abandonedAfter is the time after the last write from which a temporary file of another process counts as abandoned.
const abandonedAfter = 15 * time.Minute

var folderForm = regexp.MustCompile(`\A[0-9a-f]{32}\z`)

// Sweep removes expired files and temporary files whose process has died, and counts what is left. Nothing else in the directory is
// touched.
func (s *Store) Sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	folders, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if !s.failed {
			s.log.Warn("stored files can't be listed, so expired ones stay on disk; retrying", "state_dir", s.dir, "error", err)
		}
		s.failed = true
		return
	}
	s.failed, s.used, s.total, s.files = false, map[string]int64{}, 0, 0
	removed := 0
	for _, folder := range folders {
		if folder.IsDir() && folderForm.MatchString(folder.Name()) {
			removed += s.sweepFolder(folder.Name(), now)
		}
	}
	for _, w := range s.writes {
		s.count(w.folder, w.size)
	}
	if removed > 0 {
		s.log.Debug("removed stored files", "files", removed)
	}
}

// sweepFolder sweeps the folder of one principal, and returns how many files it has removed. The caller holds s.mu.
func (s *Store) sweepFolder(folder string, now time.Time) (removed int) {
	entries, err := os.ReadDir(s.path(folder, ""))
	if err != nil {
		return 0 // a folder that another process has removed, or a fault that the next write meets
	}
	for _, entry := range entries {
		name := entry.Name()
		id, complete := strings.CutSuffix(name, suffix)
		if complete && !IsID(id) || !complete && !strings.HasPrefix(name, tempPrefix) {
			continue // not ours to touch
		}
		if s.writes[name] != nil {
			continue // counted by its writer
		}
		info, err := entry.Info()
		if err != nil {
			continue // another process was faster
		}
		if end := info.ModTime(); complete && !now.Before(end) || !complete && now.Sub(end) > abandonedAfter {
			remove(s.path(folder, name))
			removed++
			continue
		}
		s.count(folder, info.Size())
		if complete {
			s.files++
		}
	}
	if s.used[folder] == 0 {
		_ = os.Remove(s.path(folder, "")) // fails unless it is empty
	}
	return removed
}
