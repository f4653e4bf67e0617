import { ORGANISATIONAL_USER, WEBMASTER } from '../../src/access/roles.js';
import { foldText } from '../../src/platform/common/text.js';
import type { PlannedRow } from '../../src/import/plan/row-rules.js';
import type { RowError } from '../../src/import/runs/import-row.js';
import { EMPTY_USER, type User } from '../../src/users/model/user.js';
import { CalendarNight } from './calendar.js';
import { Chance } from './chance.js';

export const DATASET = 'hr';

const FORENAMES =
  'Anna Ben Carla David Elif Finn Greta Hannes Ines Jan Karin Lukas Maria Nico Olga Paul Rosa Stefan Tina Uwe Vera ' +
  'Willem Yusuf Zara Amélie André Björn Chloé Jörg José Zoë Søren Thomas Sabine Michael Andrea Peter Julia Martin Sarah';
const SURNAMES =
  'Abel Bauer Clarke Dietz Evans Fischer Gruber Hansen Ivanov Jansen Keller Lang Meyer Nowak Olsen Price Quandt Richter ' +
  'Schmidt Turner Ulrich Vogel Wagner Young Ziegler Müller Schröder Köhler Núñez Lefèvre Sørensen Çelik Gärtner Weiß Kim';
const DEPARTMENTS =
  'Sales Finance Legal Research Support Logistics Training Purchasing Production Quality Marketing IT';
/** Additional roles with the share of the users who have them. */
const ROLES = { Author: 0.12, Editor: 0.05, Publisher: 0.02, 'Section manager': 0.03, Moderator: 0.01 };
export const ROLE_NAMES = Object.keys(ROLES);
export const CLASSES = '5a 5b 6a 6b 7a 7b 8a 8b 9a 9b 10a 10b 11a 11b 12a 12b'.split(' ');

/** Average number of people in a team with its manager. */
export const TEAM_SIZE = 9;
const MAX_TEAM = 12;

/** A person of the source, with the user as the last file left it. */
export interface Person {
  user: User;
  manager: Person | undefined;
  reports: Set<Person>;
  department: string;
  site: number;
  isPupil: boolean;
  isListed: boolean;
  /** False for a new person whose row has failed so far. */
  isStored: boolean;
  /** Errors with which the row fails every night, until the source corrects it. */
  errors: RowError[];
  /** Planned row of a night without changes. */
  unchanged?: PlannedRow | undefined;
}

/** An organisation with its people, who form a tree of teams. Records what changes until the next file. */
export class Organisation {
  readonly chance: Chance;
  readonly isSchool: boolean;
  /** Habits of the source that stay the same. */
  readonly style;
  /** People in the order of the file. */
  file: Person[] = [];
  readonly active: Person[] = [];
  /** Users before the changes of this night. */
  readonly before = new Map<Person, User>();
  /** Numbers of events of this night by name. */
  readonly events = new Map<string, number>();
  night = new CalendarNight(0);
  private readonly positions = new Map<Person, number>();
  private readonly logins = new Map<string, number>();
  private readonly prefixes: number[];
  private people = 0;

  constructor(
    readonly size: number,
    seed: number,
  ) {
    const chance = (this.chance = new Chance(seed * 7919 + size));
    this.isSchool = size >= 60 && seed % 3 === 0;
    this.style = {
      sortsBySurname: chance.isTrue(0.3),
      blocksLeavers: chance.isTrue(0.5),
      emptiesLeavers: chance.isTrue(0.3),
      hasSeason: size >= 25 && !this.isSchool && chance.isTrue(0.3),
      username: chance.pick(['email', 'name', 'id'] as const),
      phone: chance.pick(['+49 30 ', '030/', '']),
      hasAuthname: chance.isTrue(0.4),
      domains: chance.pick([
        ['acme.example'],
        ['acme.example', 'acme.example', 'acme.example', 'lab.example'],
      ]),
      growth: chance.between(95, 120) / 100,
    };
    this.prefixes = Array.from({ length: Math.ceil(size ** 0.4 / 2) }, () => chance.between(10, 99));
    const staff = this.isSchool ? Math.ceil(size / 8) : size;
    const leads: Person[] = [this.hire({ isStored: true })];
    for (const lead of leads)
      for (let team = chance.between(5, 10); team > 0 && leads.length < staff / TEAM_SIZE; team--)
        leads.push(this.hire({ manager: lead, isStored: true }));
    while (this.people < staff) this.hire({ manager: chance.pick(leads), isStored: true });
    while (this.people < size) this.hire({ isPupil: true, isStored: true });
    for (const person of this.active.slice(0, Math.ceil(size / 1000)))
      person.user = { ...person.user, roles: [ORGANISATIONAL_USER, WEBMASTER] };
    const failing = chance.count(size / 300);
    for (let i = 0; i < failing; i++)
      chance.pick(this.active).errors = [{ field: 'phone', code: 'invalid_format', message: '' }];
    this.shuffleFile();
  }

  get sites(): number {
    return this.prefixes.length;
  }

  /** Returns an active person whom an import may change, and whose row does not fail. */
  pickPerson(isSuitable: (person: Person) => boolean = () => true): Person | undefined {
    for (let attempt = 0; attempt < 50; attempt++) {
      const person = this.active.length > 0 ? this.chance.pick(this.active) : undefined;
      const isFree = person?.isStored && person.errors.length === 0 && !person.user.roles.includes(WEBMASTER);
      if (isFree && isSuitable(person)) return person;
    }
    return undefined;
  }

  /** Returns a person who manages a team. */
  pickLead(): Person | undefined {
    return this.pickPerson(({ manager }) => manager !== undefined)?.manager;
  }

  /** Returns a manager whose team is not large yet. */
  pickTeam(): Person | undefined {
    const isSmall = ({ manager }: Person) => manager !== undefined && manager.reports.size < MAX_TEAM;
    return this.pickPerson(isSmall)?.manager;
  }

  note(event: string): void {
    this.events.set(event, (this.events.get(event) ?? 0) + 1);
  }

  /** Changes the user of a person, unless the row of the person fails. */
  change(person: Person, patch: Partial<User>): void {
    if (person.isStored && person.errors.length > 0) return;
    if (person.isStored && !this.before.has(person)) this.before.set(person, person.user);
    person.user = { ...person.user, ...patch, updated: this.night.time, version: person.user.version + 1 };
    person.unchanged = undefined;
  }

  setManager(person: Person, manager: Person | undefined): void {
    if (person === manager || this.isManagedBy(manager, person)) return;
    person.manager?.reports.delete(person);
    manager?.reports.add(person);
    person.manager = manager;
    this.change(person, { manager_uuid: manager?.user.uuid ?? null });
  }

  hire(options: Partial<Pick<Person, 'manager' | 'isPupil' | 'isStored' | 'errors'>> = {}): Person {
    const { chance, style } = this;
    const { manager, isPupil = false, isStored = false } = options;
    const number = ++this.people;
    const isHead = manager?.manager === undefined || (this.size > 400 && !manager.manager.manager);
    const department = isHead
      ? `${chance.pickWord(DEPARTMENTS)} ${chance.between(1, 9)}`
      : manager.department;
    const site = isHead || chance.isTrue(0.1) ? chance.between(0, this.sites - 1) : manager.site;
    const [firstname, surname] = [chance.pickWord(FORENAMES), this.createSurname()];
    const extra = ROLE_NAMES.filter((role) => !isPupil && chance.isTrue(Reflect.get(ROLES, role)));
    const user: User = {
      ...EMPTY_USER,
      uuid: `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
      external_id: `E${String(10_000 + number * 3).padStart(7, '0')}`,
      firstname,
      surname,
      middle_name: chance.isTrue(0.1) ? chance.pickWord(FORENAMES) : '',
      known_as: chance.isTrue(0.08) ? chance.pickWord(FORENAMES) : '',
      roles: isPupil ? ['External user'] : [ORGANISATIONAL_USER, ...extra],
      phone: isPupil ? '' : this.createPhone(site),
      mobile: chance.isTrue(0.35) ? this.createMobile() : '',
      manager_uuid: manager?.user.uuid ?? null,
      about_me: isPupil ? `Class ${chance.pick(CLASSES)}` : department,
      hide_email: chance.isTrue(0.05),
      hide_phone_numbers: chance.isTrue(0.03),
      social_media: chance.isTrue(0.06) ? { linkedin: `https://www.linkedin.com/in/p${number}` } : {},
      managed_by: DATASET,
      ...this.createLogins(firstname, surname, chance.pick(style.domains), number),
    };
    const person: Person = {
      ...{ user, manager, department, site, isPupil, isStored, isListed: true },
      ...{ reports: new Set<Person>(), errors: options.errors ?? [] },
    };
    manager?.reports.add(person);
    this.file.push(person);
    this.activate(person);
    return person;
  }

  activate(person: Person): void {
    this.positions.set(person, this.active.push(person) - 1);
  }

  deactivate(person: Person): void {
    const position = this.positions.get(person);
    const last = this.active.pop();
    if (position === undefined || !last) return;
    this.positions.delete(person);
    if (last === person) return;
    this.active[position] = last;
    this.positions.set(last, position);
  }

  createSurname(): string {
    const surname = this.chance.pickWord(SURNAMES);
    return this.chance.isTrue(0.6) ? surname : `${surname}-${this.chance.pickWord(SURNAMES)}`;
  }

  createPhone(site: number): string {
    const number = this.chance.between(100, 999);
    return `${this.style.phone}${this.prefixes[site]}${this.style.phone === '' ? '' : '12-'}${number}`;
  }

  createMobile(): string {
    return `+49 170 ${this.chance.between(1_000_000, 9_999_999)}`;
  }

  replacePrefix(site: number): void {
    this.prefixes[site] = this.chance.between(10, 99);
  }

  /** Builds the logins of a name. A number makes them unique. */
  createLogins(firstname: string, surname: string, domain: string, number: number) {
    const name = foldText(`${firstname}.${surname}`);
    const count = (this.logins.get(name) ?? 0) + 1;
    this.logins.set(name, count);
    const login = count === 1 ? name : `${name}${count}`;
    const email = `${login}@${domain}`;
    const username =
      this.style.username === 'email' ? email : this.style.username === 'id' ? `u${number}` : login;
    return { username, email, authname: this.style.hasAuthname ? { saml: [username] } : {} };
  }

  /** Returns the people in the order of this night's file. */
  listFile(): readonly Person[] {
    this.file = this.file.filter(({ isListed }) => isListed);
    if (this.style.sortsBySurname)
      this.file.sort(({ user: { surname: a } }, { user: { surname: b } }) => (a < b ? -1 : a > b ? 1 : 0));
    return this.file;
  }

  startNight(night: CalendarNight): void {
    this.night = night;
    this.before.clear();
    this.events.clear();
  }

  /** External ids do not follow the tree of teams. */
  private shuffleFile(): void {
    const ids = this.file.map(({ user }) => user.external_id);
    for (const [i, person] of this.file.entries()) {
      const other = this.chance.between(i, this.size - 1);
      [ids[i], ids[other]] = [ids[other] ?? '', ids[i] ?? ''];
      person.user = { ...person.user, external_id: ids[i] ?? '' };
    }
    this.file.sort(({ user: { external_id: a } }, { user: { external_id: b } }) => (a < b ? -1 : 1));
  }

  private isManagedBy(person: Person | undefined, manager: Person): boolean {
    for (let at = person; at; at = at.manager) if (at.manager === manager) return true;
    return false;
  }
}
