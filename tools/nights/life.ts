import { ORGANISATIONAL_USER } from '../../src/access/roles.js';
import { localPartOf } from '../../src/users/model/formats.js';
import { CalendarNight } from './calendar.js';
import { CLASSES, type Organisation, type Person, ROLE_NAMES, TEAM_SIZE } from './organisation.js';
import { Staff } from './staff.js';

type Act = () => void;

/** Simulates what happens in an organisation from night to night. */
export class Life {
  private readonly staff: Staff;
  /** What will happen on later nights. */
  private readonly agenda = new Map<number, Act[]>();

  constructor(private readonly org: Organisation) {
    this.staff = new Staff(org, (days, act) => {
      const at = org.night.number + days;
      this.agenda.set(at, [...(this.agenda.get(at) ?? []), act]);
    });
  }

  /** Changes the people as the source does before this night's file. Returns true for an extraordinary night. */
  live(number: number): boolean {
    const { org, staff } = this;
    const night = new CalendarNight(number);
    org.startNight(night);
    for (const act of this.agenda.get(number) ?? []) act();
    this.agenda.delete(number);
    const { officeShare: office, contractShare: contract } = night;
    const people = org.active.length;
    const [teams, departments] = [people / TEAM_SIZE, Math.max(1, people / 60)];
    const repeat = (event: string, mean: number, act: Act): void => {
      for (let times = org.chance.count(mean); times > 0; times--) {
        org.note(event);
        act();
      }
    };
    repeat('leaver', people * 0.12 * contract, () => staff.leave());
    repeat('joiner', people * 0.12 * org.style.growth * contract, () => staff.join());
    repeat('leave of absence', people * 0.03 * contract, () => staff.takeLeave());
    repeat('transfer', people * 0.04 * contract, () => staff.transfer());
    repeat('wedding', people * 0.015 * office, () => this.marry());
    repeat('new phone', people * 0.08 * office, () => this.changePhone());
    repeat('new mobile', people * 0.05 * office, () => this.changeMobile());
    repeat('other role', people * 0.065 * office, () => this.changeRole());
    repeat('correction', people * 0.04 * office, () => this.correct());
    repeat('mistake, corrected later', people * 0.015 * office, () => this.makeMistake());
    repeat('new text or flag', people * 0.04 * office, () => this.changeProfile());
    repeat('absence from the file', people * 0.005 * office, () => staff.dropForSomeDays());
    repeat('new head of a team', teams * 0.04 * contract, () => staff.replaceLead());
    repeat('split of a team', teams * 0.05 * contract, () => staff.splitTeam());
    repeat('merge of teams', teams * 0.03 * contract, () => staff.mergeTeams());
    repeat('reorganised department', departments * 0.08 * contract, () => staff.mixDepartment());
    repeat('renamed department', departments * 0.06 * contract, () => this.renameDepartment());
    repeat('course with a new role', departments * 0.05 * office, () => this.trainGroup());
    repeat('new phone system', org.sites * 0.1 * office, () => this.changeSite());
    repeat('row that fails', people * 0.005 * office, () => this.failRow());
    if (!org.isSchool && night.isOn(9, 1)) repeat('apprentice', people * 0.025, () => staff.join());
    if (org.style.hasSeason && night.isOn(6, 1))
      repeat('seasonal worker', people * 0.04, () => staff.joinForSeason());
    return this.changeYear(night) || this.changeDomain();
  }

  /** A new school year: leavers, new classes and joiners. */
  private changeYear(night: CalendarNight): boolean {
    const { org } = this;
    if (!org.isSchool || !night.isOn(8, 1)) return false;
    org.note('new school year');
    const pupils = org.active.filter(({ isPupil, errors }) => isPupil && errors.length === 0);
    const last = CLASSES.slice(-2);
    for (const pupil of pupils) {
      const at = CLASSES.indexOf(pupil.user.about_me.replace('Class ', ''));
      if (last.includes(CLASSES[at] ?? '')) this.staff.leave(pupil);
      else org.change(pupil, { about_me: `Class ${CLASSES[at + 2]}` });
    }
    for (let i = 0; i < pupils.length / 8; i++)
      this.staff.enrol(org.chance.isTrue(0.8) ? 0 : org.chance.between(1, 40));
    return true;
  }

  /** Seldom, the whole organisation gets another e-mail domain. */
  private changeDomain(): boolean {
    const { org } = this;
    if (!org.chance.isTrue(0.03 / 365)) return false;
    org.note('new e-mail domain');
    const domains = org.style.domains.map((domain) => `new-${domain}`);
    org.style.domains = domains;
    for (const person of org.active.filter(({ errors }) => errors.length === 0))
      org.change(person, { email: `${localPartOf(person.user.email)}@${domains[0]}` });
    return true;
  }

  private marry(): void {
    const { org } = this;
    const person = org.pickPerson();
    if (!person) return;
    const surname = org.createSurname();
    const isDouble = org.chance.isTrue(0.3);
    org.change(person, { surname: isDouble ? `${person.user.surname}-${surname}` : surname });
    if (org.chance.isTrue(0.8))
      this.staff.scheduleFor(person, org.chance.pick([0, 0, 1, 5, 14]), () => this.renameLogins(person));
  }

  private renameLogins(person: Person): void {
    const { firstname, surname, email, external_id: id } = person.user;
    const domain = email.slice(localPartOf(email).length + 1);
    const logins = this.org.createLogins(firstname, surname, domain, Number(id.slice(1)));
    if (this.org.style.username === 'id') this.org.change(person, { email: logins.email });
    else if (this.org.chance.isTrue(0.6) || this.org.style.username === 'email')
      this.org.change(person, logins);
    else this.org.change(person, { email: logins.email });
  }

  private changePhone(): void {
    const person = this.org.pickPerson(({ isPupil }) => !isPupil);
    if (person) this.org.change(person, { phone: this.org.createPhone(person.site) });
  }

  private changeMobile(): void {
    const person = this.org.pickPerson();
    if (!person) return;
    const losesMobile = person.user.mobile !== '' && this.org.chance.isTrue(0.3);
    this.org.change(person, { mobile: losesMobile ? '' : this.org.createMobile() });
  }

  private changeRole(): void {
    const person = this.org.pickPerson(({ isPupil }) => !isPupil);
    if (!person) return;
    const { roles } = person.user;
    const role = this.org.chance.pick(roles.length > 1 ? roles.slice(1) : ROLE_NAMES);
    this.setRole(person, role, !roles.includes(role));
  }

  private setRole(person: Person, role: string, isHeld: boolean): void {
    const others = person.user.roles.filter((held) => held !== role && held !== ORGANISATIONAL_USER);
    this.org.change(person, { roles: [ORGANISATIONAL_USER, ...others, ...(isHeld ? [role] : [])] });
  }

  private correct(): void {
    const { org } = this;
    const person = org.pickPerson();
    if (!person) return;
    const { firstname, surname, about_me, phone } = person.user;
    const field = org.chance.pick(['firstname', 'surname', 'about_me', 'phone', 'email'] as const);
    if (field === 'firstname')
      org.change(person, { firstname: `${firstname}${org.chance.pickWord('e a h n s')}` });
    else if (field === 'surname') org.change(person, { surname: swapLetters(surname) });
    else if (field === 'about_me') org.change(person, { about_me: about_me.replace(/ *$/, ', deputy') });
    else if (field === 'phone' && phone !== '')
      org.change(person, { phone: this.org.createPhone(person.site) });
    else this.renameLogins(person);
  }

  private makeMistake(): void {
    const { org } = this;
    const person = org.pickPerson();
    if (!person) return;
    const field = org.chance.pick(['surname', 'phone', 'about_me'] as const);
    const right = person.user[field];
    org.change(person, { [field]: right === '' ? 'unknown' : swapLetters(right) });
    this.staff.scheduleFor(person, org.chance.between(1, 4), () => org.change(person, { [field]: right }));
  }

  private changeProfile(): void {
    const { org } = this;
    const person = org.pickPerson();
    if (!person) return;
    const { hide_email, known_as } = person.user;
    if (org.chance.isTrue(0.3)) org.change(person, { hide_email: !hide_email });
    else if (org.chance.isTrue(0.3))
      org.change(person, { known_as: known_as === '' ? person.user.firstname.slice(0, 3) : '' });
    else org.change(person, { about_me: `${person.department}, room ${org.chance.between(100, 499)}` });
  }

  private renameDepartment(): void {
    const { org } = this;
    const department = org.pickPerson(({ isPupil }) => !isPupil)?.department;
    for (const person of org.active) {
      if (person.department !== department || person.errors.length > 0 || person.isPupil) continue;
      person.department = `${department} & Services`;
      org.change(person, { about_me: person.department });
    }
  }

  /** Several people of one department get the same role. */
  private trainGroup(): void {
    const { org } = this;
    const department = org.pickPerson(({ isPupil }) => !isPupil)?.department;
    const role = org.chance.pick(ROLE_NAMES);
    for (let seats = org.chance.between(3, 8); seats > 0; seats--) {
      const person = org.pickPerson((one) => one.department === department && !one.isPupil);
      if (person && !person.user.roles.includes(role)) this.setRole(person, role, true);
    }
  }

  /** A site gets another prefix of phone numbers, for all people in one night or in several steps. */
  private changeSite(): void {
    const { org } = this;
    const site = org.chance.between(0, org.sites - 1);
    const steps = org.chance.pick([1, 1, 4]);
    org.replacePrefix(site);
    for (const person of org.active) {
      if (person.site !== site || person.user.phone === '' || person.errors.length > 0) continue;
      if (!org.chance.isTrue(0.8) || person.user.roles.includes('Webmaster')) continue;
      const step = org.chance.between(0, steps - 1);
      this.staff.scheduleFor(person, 7 * step, () => org.change(person, { phone: org.createPhone(site) }));
    }
  }

  /** The row of a person fails until the source corrects it. */
  private failRow(): void {
    const person = this.org.pickPerson();
    if (!person) return;
    person.errors = [{ field: 'mobile', code: 'invalid_format', message: '' }];
    this.staff.schedule(this.org.chance.between(1, 60), () => (person.errors = []));
  }
}

const swapLetters = (text: string): string => text.replace(/(..)(.)(.)(.*)$/su, '$1$3$2$4');
