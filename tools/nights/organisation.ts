import { DEFAULT_ROLES, EXTERNAL_USER } from '../../src/access/roles.js';
import type { PlannedRow } from '../../src/import/plan/row-rules.js';
import type { RowError } from '../../src/import/runs/import-row.js';
import { foldText } from '../../src/platform/common/text.js';
import { EMPTY_USER, type User } from '../../src/users/model/user.js';
import { Chance } from './chance.js';

export const DATASET = 'hr';
/** Average number of people in a team with its manager, and in a department. */
export const TEAM_SIZE = 9;
const DEPARTMENT_SIZE = 40;

const splitWords = (text: string): readonly string[] => text.split(' ');
const FORENAMES = splitWords(
  'Anna Ben Carla David Elif Finn Greta Hannes Ines Jan Karin Lukas Maria Nico Olga Paul Rosa Amélie Björn Jörg Zoë',
);
const SURNAMES = splitWords(
  'Abel Clarke Evans Fischer Gruber Hansen Jansen Keller Meyer Nowak Price Turner Vogel Young Müller Núñez Çelik Weiß',
);
const DEPARTMENTS = splitWords(
  'Sales Finance Legal Research Support Logistics Training Purchasing Production IT',
);
export const CLASSES = splitWords('5a 5b 6a 6b 7a 7b 8a 8b 9a 9b 10a 10b 11a 11b 12a 12b');
export const ROLES = splitWords('Author Author Author Author Editor Editor Publisher Moderator');

/** Departments with the same prefix of phone numbers are at the same site. */
interface Department {
  name: string;
  prefix: number;
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

/** An organisation, which consists of teams. A school also has pupils. */
export class Organisation {
  readonly chance: Chance;
  readonly isSchool: boolean;
  /** Number of people who are not pupils. */
  readonly staff: number;
  /** Habits of the source. */
  readonly style;
  /** All people, in the order of the file. */
  readonly people: Person[] = [];
  readonly departments: readonly Department[];
  /** Users before the changes of this night. */
  readonly before = new Map<Person, User>();

  constructor(
    readonly size: number,
    seed: number,
  ) {
    const { between, isTrue, pick } = (this.chance = new Chance(seed * 7919 + size));
    this.isSchool = size >= 60 && seed % 3 === 0;
    const staff = (this.staff = this.isSchool ? Math.ceil(size / 8) : size);
    this.style = {
      blocksLeavers: isTrue(0.5),
      emptiesLeavers: isTrue(0.3),
      hasSeason: size >= 25 && !this.isSchool && isTrue(0.3),
      growth: between(95, 120) / 100,
      usesEmailAsUsername: isTrue(0.4),
      phone: pick(['+49 30 ', '030/', '']),
      domains: pick([['acme.example'], ['acme.example', 'acme.example', 'acme.example', 'lab.example']]),
    };
    const prefixes = Array.from({ length: Math.ceil(size ** 0.4 / 2) }, () => between(10, 99));
    this.departments = Array.from({ length: Math.ceil(size / DEPARTMENT_SIZE) }, () => ({
      name: `${pick(DEPARTMENTS)} ${between(1, 99)}`,
      prefix: pick(prefixes),
    }));
    const leads = Math.ceil(staff / TEAM_SIZE);
    for (let i = 0; i < size; i++) {
      const lead = i < leads ? Math.floor((i - 1) / TEAM_SIZE) : between(0, leads - 1);
      const department = this.departments[i < leads ? i % this.departments.length : -1];
      const person = this.hire(this.people[lead], i >= staff, department);
      person.user = { ...person.user, version: 1 };
      if (isTrue(0.003)) person.errors = [{ field: 'phone', code: 'invalid_format', message: '' }];
    }
  }

  /** Returns an active person whose row does not fail. */
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
  listStaff = (isIncluded: (person: Person) => boolean): Person[] =>
    this.people.filter((person) => isIncluded(person) && isActive(person) && !person.isPupil);

  /** Changes the user of a person, unless the row of the person fails. */
  change(person: Person | undefined, patch: Partial<User>): Person | undefined {
    if (!person || person.errors.length > 0) return undefined;
    const { user } = person;
    if (user.version > 0 && !this.before.has(person)) this.before.set(person, user);
    person.user = { ...user, ...patch };
    person.unchanged = undefined;
    return person;
  }

  setManager(person: Person, manager: Person | undefined): void {
    if (person === manager) return;
    person.manager = manager;
    this.change(person, { manager_uuid: manager?.user.uuid ?? null });
  }

  hire(lead: Person | undefined, isPupil = false, department = lead?.department): Person {
    const { isTrue, pick } = this.chance;
    department ??= pick(this.departments);
    const manager = isPupil ? undefined : lead;
    const number = this.people.length + 1;
    const user: User = {
      ...EMPTY_USER,
      uuid: `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
      version: 0,
      external_id: `E${String(10_000 + number).padStart(7, '0')}`,
      firstname: pick(FORENAMES),
      surname: this.createSurname(),
      roles: isPupil ? [EXTERNAL_USER] : [...DEFAULT_ROLES, ...(isTrue(0.2) ? [pick(ROLES)] : [])],
      phone: isPupil ? '' : this.createPhone(department),
      mobile: isTrue(0.35) ? this.createMobile() : '',
      manager_uuid: manager?.user.uuid ?? null,
      about_me: isPupil ? pick(CLASSES) : department.name,
      hide_email: isTrue(0.05),
      managed_by: DATASET,
    };
    const logins = this.createLogins(user, pick(this.style.domains));
    const person = { user: { ...user, ...logins }, manager, department, isPupil, isListed: true, errors: [] };
    this.people.push(person);
    return person;
  }

  createSurname = (): string =>
    this.chance.isTrue(0.6)
      ? this.chance.pick(SURNAMES)
      : `${this.chance.pick(SURNAMES)}-${this.chance.pick(SURNAMES)}`;
  createPhone = ({ prefix }: Department): string =>
    `${this.style.phone}${prefix}${this.chance.between(100, 999)}`;
  createMobile = (): string => `+49 170 ${this.chance.between(1_000_000, 9_999_999)}`;

  createLogins(
    { firstname, surname, external_id: id }: User,
    domain: string,
  ): Pick<User, 'username' | 'email'> {
    const email = `${foldText(`${firstname}.${surname}`)}${id.slice(-2)}@${domain}`;
    return { email, username: this.style.usesEmailAsUsername ? email : id.toLowerCase() };
  }
}
