import { DEFAULT_ROLES, EXTERNAL_USER } from '../../src/access/roles.js';
import type { PlannedRow } from '../../src/import/plan/row-rules.js';
import type { RowError } from '../../src/import/runs/import-row.js';
import { foldText } from '../../src/platform/common/text.js';
import { addSeconds } from '../../src/platform/common/time.js';
import { EMPTY_USER, type User } from '../../src/users/model/user.js';
import { Chance } from './chance.js';

export const DATASET = 'hr';
/** Average number of people in a team with its manager. */
export const TEAM_SIZE = 9;
const DEPARTMENT_SIZE = 40;
const MAX_TEAM = 12;

const splitWords = (text: string): readonly string[] => text.split(' ');
const FORENAMES = splitWords(
  'Anna Ben Carla David Elif Finn Greta Hannes Ines Jan Karin Lukas Maria Nico Olga Paul Rosa Stefan Tina Uwe Vera Zoë ' +
    'Willem Yusuf Zara Amélie André Björn Chloé Jörg José Søren Thomas Sabine Michael Andrea Peter Julia Martin Sarah',
);
const SURNAMES = splitWords(
  'Abel Bauer Clarke Dietz Evans Fischer Gruber Hansen Ivanov Jansen Keller Lang Meyer Nowak Olsen Price Quandt Richter ' +
    'Schmidt Turner Ulrich Vogel Wagner Young Ziegler Müller Schröder Köhler Núñez Lefèvre Sørensen Çelik Gärtner Weiß',
);
const DEPARTMENTS = splitWords(
  'Sales Finance Legal Research Support Logistics Training Purchasing Production IT',
);
export const CLASSES = splitWords('5a 5b 6a 6b 7a 7b 8a 8b 9a 9b 10a 10b 11a 11b 12a 12b');
export const ROLES = splitWords('Author Author Author Author Editor Editor Publisher Moderator');

interface Site {
  prefix: number;
}

interface Department {
  name: string;
  site: Site;
}

/** A person of the source, with the user as this night's file leaves it. */
export interface Person {
  /** The version is 0 until an import has created the user. */
  user: User;
  manager: Person | undefined;
  department: Department;
  isPupil: boolean;
  isListed: boolean;
  /** Errors with which the row fails every night, until the source corrects it. */
  errors: RowError[];
  /** Planned row of a night without changes. */
  unchanged?: PlannedRow | undefined;
}

export const isActive = ({ isListed, user }: Person): boolean => isListed && user.status === 'Active';

/** An organisation, which consists of teams. Records what changes until the next file. */
export class Organisation {
  readonly chance: Chance;
  readonly isSchool: boolean;
  readonly people: Person[] = [];
  readonly sites: readonly Site[];
  readonly departments: readonly Department[];
  /** Users before the changes of this night. */
  readonly before = new Map<Person, User>();
  /** Numbers of events of this night by name. */
  readonly events = new Map<string, number>();
  /** Habits of the source. */
  readonly style;
  time = '2026-01-01 02:00:00.000';
  private readonly logins = new Map<string, number>();

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
      growth: chance.between(95, 120) / 100,
      username: chance.pick(['email', 'name', 'id'] as const),
      hasAuthname: chance.isTrue(0.4),
      formatPhone: chance.pick([
        (prefix: number, number: number) => `+49 30 ${prefix}12-${number}`,
        (prefix: number, number: number) => `030/${prefix}1${number}`,
        (prefix: number, number: number) => `${prefix}${number}`,
      ]),
      domains: chance.pick([
        ['acme.example'],
        ['acme.example', 'acme.example', 'acme.example', 'lab.example'],
      ]),
    };
    const createList = <T>(length: number, create: () => T) =>
      Array.from({ length: Math.max(1, length) }, create);
    this.sites = createList(size ** 0.4 / 2, () => ({ prefix: chance.between(10, 99) }));
    this.departments = createList(size / DEPARTMENT_SIZE, () => ({
      name: `${chance.pick(DEPARTMENTS)} ${chance.between(1, 99)}`,
      site: chance.pick(this.sites),
    }));
    const staff = this.isSchool ? Math.ceil(size / 8) : size;
    const leads = Math.ceil(staff / TEAM_SIZE);
    for (let i = 0; i < size; i++) {
      const lead =
        i === 0 || i >= staff
          ? -1
          : i < leads
            ? Math.floor((i - 1) / TEAM_SIZE)
            : chance.between(0, leads - 1);
      const person = this.hire(this.people[lead], i >= staff, this.departments[i]);
      person.user = { ...person.user, version: 1 };
      if (chance.isTrue(0.003)) person.errors = [{ field: 'phone', code: 'invalid_format', message: '' }];
    }
    if (!this.style.sortsBySurname) this.people.sort(() => chance.between(0, 1) - 0.5);
  }

  /** Returns a person whom an import can change, because the user exists and the row does not fail. */
  pickPerson(isSuitable: (person: Person) => boolean = () => true): Person | undefined {
    for (let attempt = 0; attempt < 50; attempt++) {
      const person = this.chance.pick(this.people);
      const isFree = isActive(person) && person.user.version > 0 && person.errors.length === 0;
      if (isFree && isSuitable(person)) return person;
    }
    return undefined;
  }

  pickStaff = (): Person | undefined => this.pickPerson(({ isPupil }) => !isPupil);
  pickLead = (): Person | undefined => this.pickPerson(({ manager }) => manager !== undefined)?.manager;

  /** Returns a manager whose team is not large yet. */
  pickSmallTeam(): Person | undefined {
    for (let attempt = 0; attempt < 5; attempt++) {
      const lead = this.pickLead();
      if (lead && this.listTeam(lead).length < MAX_TEAM) return lead;
    }
    return this.pickLead();
  }

  listTeam = (lead: Person): Person[] => this.people.filter((one) => one.manager === lead && isActive(one));
  listMembers = (department: Department | undefined): Person[] =>
    this.people.filter((one) => one.department === department && isActive(one) && !one.isPupil);

  note(event: string): void {
    this.events.set(event, (this.events.get(event) ?? 0) + 1);
  }

  /** Changes the user of a person, unless the row of the person fails. */
  change(person: Person, patch: Partial<User>): void {
    const { user } = person;
    if (user.version > 0 && person.errors.length > 0) return;
    if (user.version > 0 && !this.before.has(person)) this.before.set(person, user);
    person.user = { ...user, ...patch, updated: this.time };
    person.unchanged = undefined;
  }

  setManager(person: Person, manager: Person | undefined): void {
    if (person === manager) return;
    person.manager = manager;
    this.change(person, { manager_uuid: manager?.user.uuid ?? null });
  }

  hire(
    manager = this.people.length === 0 ? undefined : this.pickSmallTeam(),
    isPupil = false,
    department = manager?.department ?? this.chance.pick(this.departments),
  ): Person {
    const { chance, style } = this;
    const number = this.people.length + 1;
    const [firstname, surname] = [chance.pick(FORENAMES), this.createSurname()];
    const user: User = {
      ...EMPTY_USER,
      uuid: `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
      version: 0,
      external_id: `E${String(10_000 + number * 3).padStart(7, '0')}`,
      firstname,
      surname,
      known_as: chance.isTrue(0.08) ? firstname.slice(0, 3) : '',
      roles: isPupil
        ? [EXTERNAL_USER]
        : [...DEFAULT_ROLES, ...(chance.isTrue(0.2) ? [chance.pick(ROLES)] : [])],
      phone: isPupil ? '' : this.createPhone(department),
      mobile: chance.isTrue(0.35) ? this.createMobile() : '',
      manager_uuid: isPupil ? null : (manager?.user.uuid ?? null),
      about_me: isPupil ? `Class ${chance.pick(CLASSES)}` : department.name,
      hide_email: chance.isTrue(0.05),
      social_media: chance.isTrue(0.06) ? { linkedin: `https://www.linkedin.com/in/p${number}` } : {},
      managed_by: DATASET,
      ...this.createLogins(firstname, surname, chance.pick(style.domains), number),
    };
    const person = {
      user,
      manager: isPupil ? undefined : manager,
      department,
      isPupil,
      isListed: true,
      errors: [],
    };
    this.people.push(person);
    return person;
  }

  createSurname(): string {
    const surname = this.chance.pick(SURNAMES);
    return this.chance.isTrue(0.6) ? surname : `${surname}-${this.chance.pick(SURNAMES)}`;
  }

  createPhone = ({ site }: Department): string =>
    this.style.formatPhone(site.prefix, this.chance.between(100, 999));
  createMobile = (): string => `+49 170 ${this.chance.between(1_000_000, 9_999_999)}`;

  /** Creates the logins for a name. A number makes them unique. */
  createLogins(firstname: string, surname: string, domain: string, number: number) {
    const name = foldText(`${firstname}.${surname}`);
    const count = (this.logins.get(name) ?? 0) + 1;
    this.logins.set(name, count);
    const login = count === 1 ? name : `${name}${count}`;
    const email = `${login}@${domain}`;
    const username = { email, name: login, id: `u${number}` }[this.style.username];
    return { username, email, authname: this.style.hasAuthname ? { saml: [username] } : {} };
  }

  startNight(night: number): void {
    this.time = addSeconds('2026-01-01 02:00:00.000', night * 24 * 3600);
    this.before.clear();
    this.events.clear();
  }

  /** Returns the people in the order of this night's file. */
  listFile(): readonly Person[] {
    const file = this.people.filter(({ isListed }) => isListed);
    const compare = ({ user: { surname: a } }: Person, { user: { surname: b } }: Person) =>
      a < b ? -1 : a > b ? 1 : 0;
    return this.style.sortsBySurname ? file.sort(compare) : file;
  }
}
