// `npm run test:pg -- 15`: the suite against a PostgreSQL that is installed here (Debian: apt-get install postgresql-15),
// on a throw-away cluster. Arguments after the version go to vitest.
import { spawnSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/postgres/embedded.ts'

const [version = '', ...rest] = process.argv.slice(2)
const bin = ['/usr/lib/postgresql', '/usr/pgsql', '/opt/homebrew/opt/postgresql@']
  .map((prefix) =>
    prefix.endsWith('@')
      ? `${prefix}${version}/bin`
      : `${prefix}${prefix.endsWith('pgsql') ? '-' : '/'}${version}/bin`,
  )
  .find((folder) => existsSync(join(folder, 'initdb')))
if (!/^\d+$/.test(version) || bin === undefined) {
  console.error(
    `PostgreSQL ${version} is not installed here. Usage: npm run test:pg -- 15 (Debian: apt-get install postgresql-15)`,
  )
  process.exit(2)
}

// PostgreSQL refuses to run as root; Debian's package makes the user.
const idOf = (flag: '-u' | '-g') => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
const folder = mkdtempSync(join(tmpdir(), `goodstanding-pg${version}-`))
if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
const run = (command: string, args: string[]) => {
  const done = spawnSync(join(bin, command), args, { ...owner, encoding: 'utf8', cwd: folder })
  if (done.status !== 0) throw new Error(`${command} failed:\n${done.stdout}${done.stderr}`)
}
const port = await freePort()
const data = join(folder, 'data')
run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'])
const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=120`
run('pg_ctl', ['-D', data, '-w', '-o', settings, '-l', join(folder, 'log'), 'start'])

let code = 1
try {
  const vitest = spawn(
    'vitest',
    ['run', '--config', 'test/vitest.config.ts', '--project', 'system', ...rest],
    {
      stdio: 'inherit',
      env: { ...process.env, TEST_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres` },
    },
  )
  code = await new Promise<number>((resolve) => vitest.once('exit', (status) => resolve(status ?? 1)))
} finally {
  run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop'])
  rmSync(folder, { recursive: true, force: true })
}
process.exit(code)
