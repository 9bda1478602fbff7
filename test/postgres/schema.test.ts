// Schema changes: applied once whoever applies them, compared without changing anything, refused where unknown.
import { expect, inject, onTestFinished, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { describeSchema } from '../../src/cli/schema.ts'
import { loadConfig } from '../../src/config.ts'
import { applySchema, knownChanges, schemaStatus } from '../../src/postgres/schema.ts'
import { adminQuery, databaseUrl, testDatabase } from '../harness/database.ts'

const emptyDatabase = async () => {
  const name = `gs_empty_${process.pid}_${Date.now()}`
  await adminQuery(inject('adminUrl'), `create database ${name}`)
  onTestFinished(() => adminQuery(inject('adminUrl'), `drop database ${name} with (force)`).then(() => {}))
  return databaseUrl(inject('adminUrl'), name)
}

test('two that apply at once: one does it, the other waits and finds nothing to do', async () => {
  const url = await emptyDatabase()
  const said: string[] = []
  expect(await schemaStatus(url)).toMatchObject({ kind: 'behind', queueVersion: null })

  const applied = await Promise.all([
    applySchema(url, (line) => said.push(line)),
    applySchema(url, (line) => said.push(line)),
  ])

  expect(applied.toSorted((a, b) => a.length - b.length)).toEqual([[], knownChanges()])
  expect(said).toEqual(['another process is applying schema changes; waiting for it'])
  expect(await schemaStatus(url)).toMatchObject({ kind: 'current', applied: knownChanges() })
})

test('a schema that is too old or too new is told, with what to do', async () => {
  const { url, query } = await testDatabase()
  await query('delete from goodstanding.schema_changes where name = $1', [knownChanges().at(-1)])
  const behind = await schemaStatus(url)
  expect(behind).toMatchObject({ kind: 'behind', missing: [knownChanges().at(-1)] })
  expect(describeSchema(behind)).toContain('npm run schema -- apply')

  await query("insert into goodstanding.schema_changes (name, run_on) values ('9999_later', now())")

  const ahead = await schemaStatus(url)
  expect(ahead).toMatchObject({ kind: 'ahead', unknown: ['9999_later'] })
  expect(describeSchema(ahead)).toContain('Deploy the newer goodstanding')
  await expect(applySchema(url, () => {})).rejects.toMatchObject({ code: 'schema/ahead' })
})

test('a pg-boss schema of another version is told, too', async () => {
  const { url, query } = await testDatabase()
  await query('update pgboss.version set version = 999')

  expect(await schemaStatus(url)).toMatchObject({ kind: 'ahead', unknown: ['pgboss 999'] })
})

test('applying what is applied changes nothing', async () => {
  const { url, query } = await testDatabase()
  const applied = () => query('select name, run_on from goodstanding.schema_changes order by name')
  const before = await applied()

  expect(await applySchema(url, () => {})).toEqual([])

  expect(await applied()).toEqual(before)
  expect(describeSchema(await schemaStatus(url))).toMatch(
    /^The schema is current \(\d+ changes, pg-boss \d+\)\.$/,
  )
})

test.each([
  [
    'older',
    'delete from goodstanding.schema_changes where name = (select max(name) from goodstanding.schema_changes)',
    'schema/behind',
    /npm run schema -- apply/,
  ],
  [
    'newer',
    "insert into goodstanding.schema_changes (name, run_on) values ('9999_later', now())",
    'schema/ahead',
    /Deploy the newer goodstanding/,
  ],
  ['older in its queue', 'update pgboss.version set version = 1', 'schema/behind', /pgboss \d+/],
])(
  'serve refuses a schema that is %s, says what to do, and changes nothing',
  async (_what, change, code, todo) => {
    const { url, query } = await testDatabase()
    await query(change)
    const before = await schemaStatus(url)
    const env = {
      DATABASE_URL: url,
      STRIPE_WEBHOOK_SECRETS: 'whsec_a',
      STRIPE_API_KEY: 'sk_test_a',
      LOG_LEVEL: 'silent',
    }
    const loaded = loadConfig(env)
    if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'))

    const refused = serve(loaded.config)

    await expect(refused).rejects.toMatchObject({
      code,
      facts: { todo: expect.stringMatching(todo) as string },
    })
    expect(await schemaStatus(url)).toEqual(before)
  },
)
