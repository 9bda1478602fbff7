// Runs once before the system tests: one PostgreSQL (embedded, or TEST_DATABASE_URL) with a template database that
// holds the whole schema. Each test file clones the template (database.ts).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { applySchema } from '../../src/postgres/schema.ts'
import { adminQuery, databaseUrl, TEMPLATE } from './database.ts'

declare module 'vitest' {
  // eslint-disable-next-line typescript/consistent-type-definitions -- augments vitest's own interface
  interface ProvidedContext {
    adminUrl: string
  }
}

export default async (project: TestProject) => {
  // The workers inherit it; the last project reads what they wrote.
  const logs = mkdtempSync(join(tmpdir(), 'goodstanding-logs-'))
  process.env['GOODSTANDING_TEST_LOGS'] = logs
  const given = process.env['TEST_DATABASE_URL']
  const server =
    given === undefined || given === '' ? await startThrowAway() : { url: given, stop: async () => {} }
  await adminQuery(server.url, `drop database if exists ${TEMPLATE} with (force)`)
  await adminQuery(server.url, `create database ${TEMPLATE}`)
  await applySchema(databaseUrl(server.url, TEMPLATE), () => {})
  project.provide('adminUrl', server.url)
  return async () => {
    await server.stop()
    for (const folder of [logs, process.env['STRIPE_SIM_WITNESS']]) {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    }
  }
}

// Nothing of it outlives the run, so it need not reach the disk.
const startThrowAway = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'goodstanding-test-'))
  const flags = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'].flatMap((setting) => [
    '-c',
    setting,
  ])
  const server = await startEmbedded(join(directory, 'postgres'), flags)
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
