// node validate.mjs FILE… holds each file against the schema of CycloneDX 1.6, strictly.
import { readFileSync } from 'node:fs'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, 'utf8')
  const problems = await validator.validate(text)
  if (problems) {
    console.error(file, JSON.stringify(problems, null, 1))
    process.exit(1)
  }
  const broken = JSON.parse(text)
  broken.components[0].kind = 'unknown'
  if (!await validator.validate(JSON.stringify(broken))) {
    console.error('the validator takes what is wrong')
    process.exit(1)
  }
  console.log(`${file}: valid CycloneDX 1.6`)
}
