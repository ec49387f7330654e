package config

// Skill is a folder with SKILL.md and the files that it refers to, by the Agent Skills specification: instructions that models read before they
// use tools. A folder of such folders stands for all of them.
type Skill struct {
	// The folder with SKILL.md, or with folders that have it. Files and folders whose names begin with a dot are ignored.
	// A link must lead to a file in the folder.
	Folder File `yaml:"folder" required:"true" access:"none: where skills are read"`
	// The path of the folder in the URIs of the files, skill://PATH/SKILL.md. The path of a skill ends with its name.
	Path string `yaml:"path,omitempty" absent:"the name of the skill; for a folder of skills, none" access:"joint: entry"`
	// Scopes that the caller needs to see and read the skills. [] needs auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes" access:"scopes" is:"scope" unique:"%q is listed twice" issuers:"warn"`
	// The endpoints that have the skills, besides /mcp.
	Endpoints []string `yaml:"endpoints,omitempty" absent:"only /mcp" access:"grants" empty:"leave it out" unique:"%s is listed twice"`

	content *SkillContent
}

func (s *Skill) short() short { return short{value: &s.Folder} }

func (s *Skill) validate(c cursor) {
	c.validateAccess(s.Scopes, s.Endpoints)
	if s.Path != "" && c.ok("path") && !isSkillPath(s.Path) {
		c.errorf("path", "%s must be names separated by /, each of letters, digits, -, _, . and ~, at most %d bytes", quote(s.Path), maxSkillPath)
	}
}

// Content returns the files of the skill. It must not be changed.
func (s *Skill) Content() *SkillContent { return s.content }

// SkillContent is a skill as it was when the configuration was loaded.
type SkillContent struct {
	// Name and Description are those of its front matter.
	Name, Description string
	// FrontMatter is the whole front matter as a JSON object, all members in the order of the file.
	FrontMatter JSON
	// AllowedTools are the tools that the skill asks hosts to allow, as they are written.
	AllowedTools []string
	// Text is SKILL.md without its front matter.
	Text []byte
	// Files are all files of the skill in the order of their paths, SKILL.md among them.
	Files []SkillFile

	file      string // SKILL.md
	textLine  int    // of Text, from 1
	positions map[string]position
}

// SkillFile is a file of a skill.
type SkillFile struct {
	// Path is relative to the folder of the skill, and separated by slashes.
	Path string
	Data []byte
	// SHA256 is the digest of the data.
	SHA256 [32]byte
}

// At returns the place of a key of the front matter, as a warning that has no message yet.
func (s *SkillContent) At(key string) Problem {
	at := nearestPosition(s.positions, key)
	return Problem{Severity: Warning, File: s.file, Line: at.line, Column: at.column, Key: key}
}

// AtText returns the place of an offset in Text, as a warning that has no message yet.
func (s *SkillContent) AtText(offset int) Problem {
	at := positionIn(s.Text, s.textLine, offset)
	return Problem{Severity: Warning, File: s.file, Line: at.line, Column: at.column}
}
