package config

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

const (
	restTime = 200 * time.Millisecond // how long a file must not have changed before it is read
	restMost = 3 * time.Second        // how long a file is waited for that does
)

// LoadSettled is [Load] for a program that serves: it waits until the configuration file, and the files that it refers to, have not changed for a
// moment, so that a file is not read that is being written. Files that never rest are an error. bare tells that location is not that of a
// configuration file, and never becomes one.
func LoadSettled(location string, bare bool, getenv func(string) string, o LoadOptions) (*Config, Problems) {
	if bare {
		return newLoader(getenv, o).bare(location)
	}
	files := []string{location}
	deadline := time.Now().Add(restMost)
	for {
		before, rested := atRest(files, deadline)
		if !rested {
			return nil, neverRests(location)
		}
		c, problems := loadFrom(location, false, newLoader(getenv, o))
		files = filesOf(location, c, problems)
		if after := stamps(files); same(before, after) {
			return c, problems
		}
		if time.Now().After(deadline) {
			return nil, neverRests(location)
		}
		time.Sleep(restTime)
	}
}

func neverRests(location string) Problems {
	return Problems{{Severity: Error, File: location, Message: fmt.Sprintf("is not read while it, or a file that it refers to, changes: "+
		"it did for %s; it is read when it rests", restMost)}}
}

// filesOf returns what a configuration was made from, also one that is refused.
func filesOf(location string, c *Config, problems Problems) []string {
	files := []string{location}
	if c != nil {
		files = append(files, c.files...)
	}
	for _, p := range problems {
		files = append(files, p.files...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// stamp identifies the state of a file, for a comparison with a later one.
type stamp struct {
	info fs.FileInfo
	at   time.Time
	size int64
}

// stamps looks at regular files. Those that are not there, and directories, of which only names are read, have none.
func stamps(files []string) map[string]stamp {
	all := map[string]stamp{}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
			all[f] = stamp{info, info.ModTime(), info.Size()}
		}
	}
	return all
}

func same(a, b map[string]stamp) bool {
	return maps.EqualFunc(a, b, func(x, y stamp) bool { return os.SameFile(x.info, y.info) && x.at.Equal(y.at) && x.size == y.size })
}

// fresh reports whether a file has changed a moment ago.
func fresh(files map[string]stamp) bool {
	for _, s := range files {
		if time.Since(s.at) < restTime {
			return true
		}
	}
	return false
}

// atRest waits until none of the files has changed for a moment, and returns how they are then. A clock that differs from that of the file
// system makes it wait once more at most.
func atRest(files []string, deadline time.Time) (map[string]stamp, bool) {
	now := stamps(files)
	for fresh(now) {
		if time.Now().After(deadline) {
			return nil, false
		}
		time.Sleep(restTime)
		later := stamps(files)
		if same(now, later) {
			return later, true
		}
		now = later
	}
	return now, true
}
