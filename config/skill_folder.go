package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of skills. Those of a single skill are the ones that each host must support (Skills extension, Limits).
const (
	maxSkills     = 1000
	maxSkillFiles = 512
	maxSkillBytes = 16 << 20
	maxAllSkills  = 64 << 20 // bytes of all files together, which are kept in memory
	maxSkillPath  = 256
	maxFolder     = 20_000 // files and folders below a folder
	maxFolderDeep = 16
)

var skillPath = regexp.MustCompile(`\A[A-Za-z0-9_.~-]+(/[A-Za-z0-9_.~-]+)*\z`)

// isSkillPath reports whether a text can stand in a URI as the path of a skill, of which the first name is the authority.
func isSkillPath(text string) bool {
	return len(text) <= maxSkillPath && skillPath.MatchString(text) && path.Clean("/"+text) == "/"+text
}

// expandSkills replaces each folder by the skills in it. It comes after validation, so that key paths are those of the file.
func (l *loader) expandSkills(cfg *Config) {
	r := &skillReader{loader: l, left: maxAllSkills}
	for i := range cfg.Skills {
		if key := fmt.Sprintf("skills[%d]", i); cfg.Skills[i].Folder != "" && l.ok(key, key+".folder", key+".path") {
			r.entry, r.key = &cfg.Skills[i], key+".folder"
			if !l.given(r.key) { // the shorter form
				r.key = key
			}
			r.readFolder(cfg)
		}
	}
	if len(r.all) > maxSkills {
		l.errorf("skills", "has %d skills; at most %d are allowed", len(r.all), maxSkills)
	}
	if r.left < 0 {
		l.errorf("skills", "the files of all skills have more than %d MiB together", maxAllSkills>>20)
	}
	cfg.Skills = r.all
}

// skillReader reads the skills of a configuration.
type skillReader struct {
	*loader
	all   []Skill
	left  int64  // bytes that all skills together may still have
	entry *Skill // that is read now
	key   string // of its folder
}

// readFolder reads the skills of an entry, and has its folder watched.
func (r *skillReader) readFolder(cfg *Config) {
	dir := string(r.entry.Folder)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		r.errorf(r.key, "%q is a file, and a skill is a folder: give %q", dir, filepath.Dir(dir))
		return
	}
	root, err := os.OpenRoot(dir)
	r.files = append(r.files, withEverything(dir))
	if err != nil {
		r.errorf(r.key, "the folder %q can't be read: %s", dir, reason(err))
		return
	}
	defer func() { _ = root.Close() }() // nothing was written
	names, faults, err := filesBelow(root)
	if err != nil {
		r.errorf(r.key, "the folder %q can't be read: %s", dir, reason(err))
		return
	}
	cfg.listed = append(cfg.listed, directory{dir, names, skillNames})
	skills := skillsAmong(names)
	for _, f := range faults {
		if skills.folderOf(f.name) != "" {
			r.errorf(r.key, "%q %s", filepath.Join(dir, f.name), f.reason)
		}
	}
	for _, name := range names {
		if base := path.Base(name); skills.folderOf(name) == "" && base != skillFileName && strings.EqualFold(base, skillFileName) {
			r.errorf(r.key, "%q must be named %s", filepath.Join(dir, name), skillFileName)
		}
	}
	if len(skills) == 0 && r.ok(r.key) {
		r.warnf(r.key, "the folder %q holds no %s yet", dir, skillFileName)
	}
	files := map[string][]string{} // by the folder of their skill
	for _, name := range names {
		folder := skills.folderOf(name)
		files[folder] = append(files[folder], name)
	}
	for _, folder := range skills {
		if len(r.all) <= maxSkills && r.left >= 0 {
			r.readSkill(root, folder, files[folder])
		}
	}
}

// readSkill reads the skill in a folder below that of the entry, with its files.
func (r *skillReader) readSkill(root *os.Root, folder string, names []string) {
	at := path.Join(r.entry.Path, folder)
	if at == "." {
		whole, err := filepath.Abs(string(r.entry.Folder))
		if err != nil {
			r.errorf(r.key, "%s", reason(err))
			return
		}
		at = filepath.Base(whole)
	}
	file := filepath.Join(string(r.entry.Folder), filepath.FromSlash(folder), skillFileName)
	other := func(s Skill) bool { return holds(s.Path, at) || holds(at, s.Path) }
	if same := slices.IndexFunc(r.all, other); same >= 0 {
		r.errorf(r.key, "%s would have URIs below skill://%s, as %s has; set path", file, r.all[same].Path, r.all[same].content.file)
		return
	}
	if !isSkillPath(at) {
		r.errorf(r.key, "the path %s can't stand in the URI of a skill: its folders have letters, digits, -, _, . and ~, and it has at most %d bytes", quote(at), maxSkillPath)
		return
	}
	files := r.readFiles(root, folder, names)
	if files == nil {
		return
	}
	f := &loader{file: file, dir: filepath.Dir(file), verbatim: true, rootType: r.rootType}
	main := slices.IndexFunc(files, func(f SkillFile) bool { return f.Path == skillFileName })
	content := f.readSkillFile(files[main].Data, path.Base(at))
	r.addProblemsOf(f)
	if content == nil || f.count[Error] > 0 {
		return
	}
	content.Files = files
	s := *r.entry
	s.Path, s.content = at, content
	r.all = append(r.all, s)
}

// readFiles reads the files of a skill; nil after an error.
func (r *skillReader) readFiles(root *os.Root, folder string, names []string) (files []SkillFile) {
	dir := filepath.Join(string(r.entry.Folder), filepath.FromSlash(folder))
	if len(names) > maxSkillFiles {
		r.errorf(r.key, "the skill %q has %d files, more than %d, which is as many as every host accepts", dir, len(names), maxSkillFiles)
		return nil
	}
	left, good := int64(maxSkillBytes), true
	for _, name := range names {
		shown := filepath.Join(string(r.entry.Folder), filepath.FromSlash(name))
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			r.errorf(r.key, "the name of the file %s must be UTF-8 without control characters", quote(shown))
			good = false
			continue
		}
		data, _, err := readAtMost(func(flag int) (*os.File, error) { return root.OpenFile(filepath.FromSlash(name), flag, 0) }, left)
		if errors.Is(err, errTooLarge) {
			r.errorf(r.key, "the skill %q has more than %d MiB, which is as much as every host accepts", dir, maxSkillBytes>>20)
			return nil
		}
		if err != nil {
			r.errorf(r.key, "%q can't be read: %s", shown, reason(err))
			good = false
			continue
		}
		left -= int64(len(data))
		below, _ := strings.CutPrefix(name, folder+"/")
		files = append(files, SkillFile{Path: below, Data: data, SHA256: sha256.Sum256(data)})
	}
	if r.left -= maxSkillBytes - left; !good || r.left < 0 {
		return nil
	}
	return files
}

// folders are the folders of skills below a folder, in order, without one that is below another: its files are those of the other.
type folders []string

// skillsAmong returns the folders of the names that are SKILL.md.
func skillsAmong(names []string) (all folders) {
	for _, name := range names {
		if path.Base(name) == skillFileName {
			all = append(all, path.Dir(name))
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Clone(all), func(folder string) bool { return folder != "." && all.folderOf(path.Dir(folder)) != "" })
}

// folderOf returns the folder of the skill that a file or a folder belongs to; "" if it belongs to none.
func (all folders) folderOf(name string) string {
	for ; ; name = path.Dir(name) {
		if _, found := slices.BinarySearch(all, name); found {
			return name
		}
		if name == "." {
			return ""
		}
	}
}

// holds reports whether a folder is a path or above it. "." is the root of both.
func holds(folder, name string) bool {
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

// fileFault is a file that can't be one of a skill.
type fileFault struct{ name, reason string }

// filesBelow returns the paths of the files below a root, separated by slashes and in order, and those that can't be read as such. Names
// that begin with a dot are left out, such as .git, and what a mounted ConfigMap keeps beside its links.
func filesBelow(root *os.Root) (names []string, faults []fileFault, err error) {
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if seen++; seen > maxFolder {
			return fmt.Errorf("it holds more than %d files and folders", maxFolder)
		}
		switch {
		case name == ".":
			return err
		case strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil:
			return err
		case e.IsDir():
			if strings.Count(name, "/") == maxFolderDeep {
				return fmt.Errorf("%q is more than %d folders deep", name, maxFolderDeep)
			}
			return nil
		}
		if why := irregular(root, name, e); why != "" {
			faults = append(faults, fileFault{name, why})
			return nil
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, faults, err
}

// irregular returns why an entry can't be a file of a skill; "" if it can.
func irregular(root *os.Root, name string, e fs.DirEntry) string {
	if e.Type().IsRegular() {
		return ""
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return errIrregular.Error()
	}
	switch info, err := root.Stat(filepath.FromSlash(name)); {
	case err != nil:
		return "is a link that leads out of the folder, or to nothing"
	case !info.Mode().IsRegular():
		return "is a link, but not to a regular file"
	}
	return ""
}

// skillNames returns the paths of the files below a folder of skills.
func skillNames(dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	names, _, err := filesBelow(root)
	return names, err
}
